import { neighbours } from '../neighbours.ts'
import { testFault } from './fault-test.ts'

testFault(neighbours)
