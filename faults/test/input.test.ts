import { input } from '../input.ts'
import { testFault } from './fault-test.ts'

testFault(input, 'sqlite')
