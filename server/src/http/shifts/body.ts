import type { ShiftBody } from '../../../../contract/shifts.ts'
import { explainShift } from '../../domain/shifts/explain-shift.ts'
import type { ListedShift } from '../../domain/shifts/shift.ts'
import { isoTime } from '../../domain/time.ts'
import { toHistoryEntryBody } from '../history/body.ts'

export function toShiftBody(shift: ListedShift): ShiftBody {
  const { prompt, at, between, rateBefore, rateAfter } = shift
  return {
    prompt: { id: prompt.publicId, name: prompt.name },
    at: isoTime(at),
    between: [isoTime(between[0]), isoTime(between[1])],
    rate_before: rateBefore,
    rate_after: rateAfter,
    cause: toCauseBody(shift),
    candidates: toCandidatesBody(shift),
    explanation: explainShift(shift),
  }
}

function toCandidatesBody({ candidates, candidateChanges }: ListedShift): ShiftBody['candidates'] {
  if (candidates === null || candidateChanges.length === 0) return null
  const changes = candidateChanges.map(({ change, share }) => ({ change: toHistoryEntryBody(change), share }))
  return { count: candidates.count, changes }
}

function toCauseBody({ change, sharedWith, candidates }: ListedShift): ShiftBody['cause'] {
  if (sharedWith !== null) return { shared_with: sharedWith }
  return change === null || candidates !== null ? { unexplained: true } : { change: toHistoryEntryBody(change) }
}
