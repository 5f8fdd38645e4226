import { replicas } from '../replicas.ts'
import { testFault } from './fault-test.ts'

testFault(replicas, 'postgres')
