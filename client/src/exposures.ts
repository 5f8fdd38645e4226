import { createIdempotencyKey } from './idempotency-key.ts'
import type { Arm } from './prompt-text.ts'
import type { Transport } from './request.ts'

interface Totals {
  trial: string
  share: number
  control: number
  candidate: number
}

interface Counted {
  /** Where the counted units lie: these numbers tell them apart as well as their names do, and take less memory. */
  units: Set<number>
  byShare: Map<number, Totals>
}

const sendAfterMs = 60_000
// Of a request, whatever the timeout of the client: one that never ended would be the last.
const timeoutMs = 30_000
// Further units are served, but not counted. Each takes about 40 bytes.
const maxUnitsOfTrial = 100_000
const maxUnits = 500_000
const maxTrials = 100
const maxItems = 100

/** Counts each unit that was served once, and reports totals, so that a request can be repeated or lost without harm. */
export function createExposures({ json }: Transport) {
  const source = createIdempotencyKey()
  const counted = new Map<string, Counted>()
  const unsent = new Set<Totals>()
  const end = new AbortController()
  let timer: ReturnType<typeof setTimeout> | undefined
  let sending = Promise.resolve()
  let unitsOfAll = 0

  function forget(trial: string): void {
    unitsOfAll -= counted.get(trial)?.units.size ?? 0
    counted.delete(trial)
  }

  function schedule(): void {
    if (timer !== undefined || end.signal.aborted) return
    timer = setTimeout(send, sendAfterMs)
    unref(timer)
  }

  function send(): Promise<void> {
    clearTimeout(timer)
    timer = undefined
    sending = sending.then(sendAll)
    return sending
  }

  async function sendAll(): Promise<void> {
    while (unsent.size > 0) {
      const exposures = [...unsent].slice(0, maxItems)
      for (const totals of exposures) unsent.delete(totals)
      const operation = { method: 'POST', path: '/trials/exposures', body: { source, exposures } } as const
      try {
        await json(operation, { maxRetries: 0, signal: end.signal, timeout: timeoutMs })
      } catch {
        // The next request reports them again.
        for (const totals of exposures) unsent.add(totals)
        return schedule()
      }
    }
  }

  return {
    count(trial: string, share: number, position: number, arm: Arm): void {
      let ofTrial = counted.get(trial)
      if (ofTrial === undefined) {
        // Trials that ended long ago go first.
        if (counted.size >= maxTrials) forget(counted.keys().next().value as string)
        ofTrial = { units: new Set(), byShare: new Map() }
        counted.set(trial, ofTrial)
      }
      const { units, byShare } = ofTrial
      if (units.has(position) || units.size >= maxUnitsOfTrial || unitsOfAll >= maxUnits) return
      units.add(position)
      unitsOfAll++
      const totals = byShare.get(share) ?? { trial, share, control: 0, candidate: 0 }
      byShare.set(share, totals)
      totals[arm]++
      unsent.add(totals)
      schedule()
    },

    /** Sends the last totals, for up to `timeoutMs`. */
    async close(timeoutMs: number): Promise<void> {
      const timer = setTimeout(() => end.abort(), timeoutMs)
      await send()
      clearTimeout(timer)
      end.abort()
    },
  }
}

/** Lets the process end although the timer runs. Timers of browsers are numbers. */
export function unref(timer: unknown): void {
  ;(timer as { unref?(): void }).unref?.()
}
