import { overload } from '../overload.ts'
import { testFault } from './fault-test.ts'

testFault(overload, 'sqlite')
