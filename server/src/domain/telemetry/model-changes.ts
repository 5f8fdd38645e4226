import { day, type Instant } from '../time.ts'
import type { ModelHour } from './telemetry.ts'

/** A time at which another model began to serve most calls of a prompt. */
export interface ModelChange {
  /** The start of the first hour with the new model. */
  at: Instant
  from: string
  to: string
}

/** The changes of the model that serves most calls, in order. It has to serve most calls of the next day too: a few calls are no change. */
export function modelChangesOf(hours: readonly ModelHour[]): ModelChange[] {
  const byHour = [...Map.groupBy(hours, ({ hour }) => hour)]
  const changes: ModelChange[] = []
  let current: string | null = null
  for (const [i, [at, ofHour]] of byHour.entries()) {
    const main = mainOf(ofHour)
    if (main === null || main === current) continue
    if (current !== null) {
      if (mainOf(dayFrom(byHour, i)) !== main) continue
      changes.push({ at, from: current, to: main })
    }
    current = main
  }
  return changes
}

/** The calls of the day that starts with this hour. */
function dayFrom(hours: readonly [Instant, ModelHour[]][], first: number): ModelHour[] {
  const found: ModelHour[] = []
  const [start] = hours[first] as [Instant, ModelHour[]]
  for (let i = first; i < hours.length; i++) {
    const [at, ofHour] = hours[i] as [Instant, ModelHour[]]
    if (at - start >= day) break
    found.push(...ofHour)
  }
  return found
}

/** The model with more than half of the calls; null if none has. */
function mainOf(hours: readonly ModelHour[]): string | null {
  const calls = new Map<string, number>()
  let total = 0
  for (const { model, calls: count } of hours) {
    calls.set(model, (calls.get(model) ?? 0) + count)
    total += count
  }
  for (const [model, count] of calls) if (2 * count > total) return model
  return null
}
