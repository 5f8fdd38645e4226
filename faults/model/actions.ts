import * as keys from './actions/keys.ts'
import * as operator from './actions/operator.ts'
import * as reads from './actions/reads.ts'
import * as signals from './actions/signals.ts'
import type { Action } from './run.ts'
import { day, floor, hour, nextMonth } from './state.ts'

const leapDay = Date.UTC(2028, 1, 29)

/** Mostly a small step forward; sometimes days, a boundary or the millisecond before it, or a step back. */
const moveClock: Action = async ({ model, service }, draw) => {
  const { now } = service
  const boundaries = [floor(now, hour) + hour, floor(now, hour) + hour, nextMonth(now), Math.max(now, leapDay)]
  if (draw.chance(0.15)) service.now = draw.one(boundaries) - draw.between(0, 1)
  else if (draw.chance(0.1)) {
    // Signals recorded in an hour that retention has removed have a test of their own.
    const earlier = now - draw.one([60_000, draw.between(0, 40 * day)])
    service.now = Math.max(earlier, Math.min(now, model.retainedSince))
  } else service.now += draw.chance(0.5) ? draw.between(0, 3 * day) : draw.between(0, 1_000)
}

/** Every action, with its weight. */
export const actions: Record<string, [weight: number, Action]> = {
  'move clock': [500, moveClock],
  'record signal': [300, signals.record],
  'repeat signal': [60, signals.repeat],
  'repeat signal together': [10, signals.repeatTogether],
  'record many': [6, signals.recordMany],
  'reach limit': [5, signals.reachLimit],
  'crash in flight': [3, signals.crashInFlight],
  vote: [150, signals.vote],
  'record batch': [40, signals.recordBatch],
  'delete signal': [60, signals.deleteSignal],
  'delete signal together': [5, signals.deleteTogether],
  'erase signals': [24, signals.erase],
  'create key': [30, keys.createKey],
  'rotate key': [30, keys.rotateKey],
  'rotate key together': [4, keys.rotateTogether],
  'revoke key': [10, keys.revokeKey],
  'set plan': [10, operator.setPlan],
  'import signals': [8, operator.importSignals],
  'remove old signals': [14, operator.removeOld],
  'read signals': [80, reads.readSignals],
  'read summary': [40, reads.readSummary],
  'read usage': [40, reads.readUsage],
  restart: [6, (run) => run.restart()],
}
