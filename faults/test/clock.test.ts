import { clock } from '../clock.ts'
import { testFault } from './fault-test.ts'

testFault(clock, 'postgres')
