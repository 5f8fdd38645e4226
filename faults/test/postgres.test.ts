import { postgres } from '../postgres.ts'
import { testFault } from './fault-test.ts'

testFault(postgres, 'postgres')
