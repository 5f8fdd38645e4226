import { model } from '../model.ts'
import { testFault } from './fault-test.ts'

testFault(model, 'postgres')
