import { day, hourStart, type Instant } from '../time.ts'
import type { ModelHour } from './telemetry.ts'

/** Who told of a change of the model. */
export const modelSources = ['spans', 'deployments', 'signals'] as const

/** A time at which another model began to serve most calls of a prompt. */
export interface ModelChange {
  /** The start of the first hour with the new model, or the time of the deployment. */
  at: Instant
  from: string
  to: string
  source: (typeof modelSources)[number]
}

/** The declared keys of the metadata that name the model: ours, and the attribute of OpenTelemetry. */
export const modelKeys: readonly string[] = ['model', 'gen_ai.request.model']

/** The changes of the model that serves most calls, in order. It has to serve most calls of the next day too: a few calls are no change. */
export function modelChangesOf(hours: readonly ModelHour[]): ModelChange[] {
  return changesOf(hours, { source: 'spans', isSample: false })
}

/**
 * The same from votes, which are a sample of the calls: where two models share the calls, another one has most votes of a day every
 * few days. So a new model needs more of them than chance would give it, in the next 20 votes if they take longer than a day.
 */
export function modelChangesOfVotes(votes: Iterable<{ at: Instant; model: string }>): ModelChange[] {
  const hours = new Map<string, ModelHour>()
  for (const { at, model } of votes) {
    const hour = hourStart(at)
    const key = `${hour} ${model}`
    const known = hours.get(key)
    if (known === undefined) hours.set(key, { hour, model, calls: 1 })
    else known.calls++
  }
  const ordered = [...hours.values()].sort((a, b) => a.hour - b.hour)
  return changesOf(ordered, { source: 'signals', isSample: true })
}

/**
 * What several sources tell, in order. The earlier ones know better, and each change of a later one to the same model within a day of theirs
 * is the same change.
 */
export function joinModelChanges(...sources: readonly (readonly ModelChange[])[]): ModelChange[] {
  const known = new Map<string, Instant[]>()
  const keyOf = (days: number, to: string) => `${days} ${to}`
  const isKnown = ({ at, to }: ModelChange) =>
    [-1, 0, 1].some((offset) =>
      known.get(keyOf(Math.floor(at / day) + offset, to))?.some((other) => Math.abs(at - other) <= day),
    )
  const joined: ModelChange[] = []
  for (const changes of sources) {
    const added = changes.filter((change) => !isKnown(change))
    for (const { at, to } of added) {
      const key = keyOf(Math.floor(at / day), to)
      const times = known.get(key)
      if (times === undefined) known.set(key, [at])
      else times.push(at)
    }
    joined.push(...added)
  }
  return joined.sort((a, b) => a.at - b.at)
}

type Hour = readonly [Instant, ModelHour[]]

interface Counted {
  source: ModelChange['source']
  /** Whether some of the calls are counted rather than all. */
  isSample: boolean
}

// Of 20 votes, 17 must name the same model.
const minSample = 20
const minDeviations = 3

function changesOf(hours: readonly ModelHour[], { source, isSample }: Counted): ModelChange[] {
  const byHour: Hour[] = [...Map.groupBy(hours, ({ hour }) => hour)]
  const changes: ModelChange[] = []
  let current: string | null = null
  for (const [i, [at, ofHour]] of byHour.entries()) {
    const [main, count] = largestOf(ofHour)
    if (2 * count <= totalOf(ofHour) || main === current) continue
    if ((current !== null || isSample) && !isMost(main, dayFrom(byHour, i, isSample ? minSample : 1), isSample))
      continue
    if (current !== null) changes.push({ at, from: current, to: main, source })
    current = main
  }
  return changes
}

function isMost(model: string, hours: readonly ModelHour[], isSample: boolean): boolean {
  const [largest, calls] = largestOf(hours)
  if (largest !== model) return false
  const total = totalOf(hours)
  const lead = 2 * calls - total
  return isSample ? total >= minSample && lead >= minDeviations * Math.sqrt(total) : lead > 0
}

/** The calls of the day that starts with this hour, and of the time after it until there are enough. */
function dayFrom(hours: readonly Hour[], first: number, minCalls: number): ModelHour[] {
  const found: ModelHour[] = []
  const [start] = hours[first] as Hour
  let calls = 0
  for (let i = first; i < hours.length; i++) {
    const [at, ofHour] = hours[i] as Hour
    if (at - start >= day && calls >= minCalls) break
    found.push(...ofHour)
    calls += totalOf(ofHour)
  }
  return found
}

function totalOf(hours: readonly ModelHour[]): number {
  return hours.reduce((sum, { calls }) => sum + calls, 0)
}

/** The model with the most calls. */
function largestOf(hours: readonly ModelHour[]): [model: string, calls: number] {
  const calls = new Map<string, number>()
  let largest: [string, number] = ['', 0]
  for (const { model, calls: count } of hours) {
    const sum = (calls.get(model) ?? 0) + count
    calls.set(model, sum)
    if (sum > largest[1]) largest = [model, sum]
  }
  return largest
}
