import { explainShift } from '../domain/shifts/explain-shift.ts'
import type { ListedShift } from '../domain/shifts/shift.ts'
import { isoTime } from '../domain/time.ts'
import { rounded } from './change.ts'

export function toShiftBody(shift: ListedShift) {
  const { at, rateBefore, rateAfter, entryId, sharedWith, candidates, candidateChanges } = shift
  const isExplained = entryId !== null && candidates === null
  return {
    at: isoTime(at),
    rate_before: rounded(rateBefore),
    rate_after: rounded(rateAfter),
    // As in the API, a cause that other prompts share comes first.
    cause: sharedWith !== null ? `${sharedWith} other prompts moved too` : isExplained ? 'change' : 'unknown',
    ...(sharedWith === null && isExplained && { change: entryId }),
    ...(candidateChanges.length > 0 && {
      candidates: candidateChanges.map(({ change, share }) => ({ change: change.id, share_of_votes: rounded(share) })),
    }),
    explanation: explainShift(shift),
  }
}
