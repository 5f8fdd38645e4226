import type { ListedShift } from '../../domain/shifts/shift.ts'
import { isoTime } from '../../domain/time.ts'
import { toHistoryEntryBody } from '../history/body.ts'
import type { ShiftBody } from './schema.ts'

export function toShiftBody(shift: ListedShift): ShiftBody {
  const { prompt, at, between, rateBefore, rateAfter } = shift
  return {
    prompt: { id: prompt.publicId, name: prompt.name },
    at: isoTime(at),
    between: [isoTime(between[0]), isoTime(between[1])],
    rate_before: rateBefore,
    rate_after: rateAfter,
    cause: toCauseBody(shift),
  }
}

function toCauseBody({ change, sharedWith }: ListedShift): ShiftBody['cause'] {
  if (sharedWith !== null) return { shared_with: sharedWith }
  return change === null ? { unexplained: true } : { change: toHistoryEntryBody(change) }
}
