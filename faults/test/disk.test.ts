import { disk } from '../disk.ts'
import { testFault } from './fault-test.ts'

testFault(disk, 'sqlite')
