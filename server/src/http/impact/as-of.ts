import { invalid } from '../../domain/errors.ts'
import { asOf, type Moment, now } from '../../domain/impact/live/moment.ts'
import type { Instant } from '../../domain/time.ts'
import { type Query, timeParameter } from '../parameters.ts'

/** The time for which impacts are wanted: now, unless `as_of` says otherwise. */
export function requestedMoment(query: Query, at: Instant): Moment {
  const wanted = timeParameter(query, 'as_of')
  if (wanted === null) return now(at)
  if (wanted > at) throw invalid('as_of must not be in the future')
  return asOf(wanted)
}
