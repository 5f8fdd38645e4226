import { percent } from '../impact/model/explanation.ts'
import { day, shortTime } from '../time.ts'
import type { Candidates, Range, StoredShift } from './shift.ts'

/** Two sentences: how far the rate moved and when, and what may have caused it. */
export function explainShift(shift: Omit<StoredShift, 'id' | 'at' | 'foundAt'>): string {
  const { between, rateBefore, rateAfter } = shift
  const moved = rateAfter < rateBefore ? 'fell' : 'rose'
  return `The share of positive votes ${moved} from ${percent(rateBefore)} to ${percent(rateAfter)} ${spanOf(between)}. ${causeOf(shift)}`
}

function causeOf({ entryId, sharedWith, candidates }: Omit<StoredShift, 'id' | 'at' | 'foundAt'>): string {
  if (sharedWith !== null) {
    return `${sharedWith} other prompts moved at the same time, so the cause is probably outside of this prompt.`
  }
  if (candidates !== null) return `${possibleCause(candidates)}.`
  return entryId === null ? 'No change of the prompt explains it.' : 'One change of the prompt explains it.'
}

/** Such as `One of 16 changes in that time may be the cause`. */
export function possibleCause({ count }: Pick<Candidates, 'count'>): string {
  const subject = count === 1 ? 'The one change' : `One of ${count} changes`
  return `${subject} in that time may be the cause`
}

const months = [
  ...['January', 'February', 'March', 'April', 'May', 'June', 'July'],
  ...['August', 'September', 'October', 'November', 'December'],
]

/** Such as `between 7 and 11 August 2026`. Within two days, the times of day matter. */
function spanOf([from, until]: Range): string {
  if (until - from < 2 * day) return `between ${shortTime(from)} and ${shortTime(until)} UTC`
  const [first, last] = [new Date(from), new Date(until)]
  const isSameYear = first.getUTCFullYear() === last.getUTCFullYear()
  const isSameMonth = isSameYear && first.getUTCMonth() === last.getUTCMonth()
  const month = isSameMonth ? '' : ` ${months[first.getUTCMonth()]}`
  const year = isSameYear ? '' : ` ${first.getUTCFullYear()}`
  const end = `${last.getUTCDate()} ${months[last.getUTCMonth()]} ${last.getUTCFullYear()}`
  return `between ${first.getUTCDate()}${month}${year} and ${end}`
}
