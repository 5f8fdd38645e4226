import { alerts } from '../alerts.ts'
import { testFault } from './fault-test.ts'

testFault(alerts, 'sqlite')
