import { type SignalFilter, signalValues } from '../../domain/signals/signal.ts'
import { checkTimeRange, enumParameter, type Query, timeParameter } from '../parameters.ts'

export function parseSignalFilter(query: Query): SignalFilter {
  const [since, until] = [timeParameter(query, 'since'), timeParameter(query, 'until')]
  checkTimeRange(['since', since], ['until', until])
  return { value: enumParameter(query, 'value', signalValues), since, until }
}
