import { kills } from '../kills.ts'
import { testFault } from './fault-test.ts'

testFault(kills, 'sqlite', 'postgres')
