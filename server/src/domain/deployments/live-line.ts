import type { Instant } from '../time.ts'
import { type DeploymentState, wholeShare } from './state.ts'

/** Where a commit is on the line of the default branch. */
export interface Place {
  sha: string
  /** The newest commit at or before it that changed a prompt: its position on the line. Null if none did. */
  seq: number | null
  /** When a rewrite of the default branch dropped that commit. */
  orphanedAt: Instant | null
}

/** A deployment to a production environment whose commit is located. */
export interface LineEvent {
  environment: string
  state: DeploymentState
  share: number
  at: Instant
  forgeDeploymentId: string | null
  place: Place
}

/** A version that serves part of the traffic. */
export interface LivePart {
  /** Null for the version that merges had made live by `mergedBy`: the rest of a first canary. */
  place: Place | null
  mergedBy: Instant | null
  /** Of all production traffic. The parts of a segment add up to 1. */
  share: number
  environment: string
}

/** What was live in production from an instant until the next segment. */
export interface LineSegment {
  from: Instant
  parts: LivePart[]
}

interface EnvironmentPart {
  place: Place | null
  mergedBy: Instant | null
  share: number
  forgeDeploymentId: string | null
}

/** What was live, from the deployments to production environments in order of time. Each environment counts the same. */
export function liveLine(events: LineEvent[]): LineSegment[] {
  const environments = new Map<string, EnvironmentPart[]>()
  const segments: LineSegment[] = []
  for (const event of events) {
    const before = environments.get(event.environment)
    const after = partsAfter(before, event)
    if (after === null) continue
    environments.set(event.environment, after)
    const active = [...environments].filter(([, parts]) => parts.length > 0)
    const parts = active.flatMap(([environment, parts]) =>
      parts.map(
        ({ place, mergedBy, share }): LivePart => ({ place, mergedBy, share: share / active.length, environment }),
      ),
    )
    const last = segments.at(-1)
    if (last?.from === event.at) last.parts = parts
    else if (last === undefined || !sameParts(last.parts, parts)) segments.push({ from: event.at, parts })
  }
  return segments
}

/** What runs in an environment. */
interface EnvironmentParts {
  environment: string
  /** The versions that serve its traffic. Empty if its last deployment ended. */
  parts: Pick<LivePart, 'place' | 'mergedBy' | 'share'>[]
  /** The time of the last deployment that changed it. */
  since: Instant
}

/** What runs in each environment after these deployments in order of time, the last changed first. */
export function environmentsAfter(events: LineEvent[]): EnvironmentParts[] {
  const environments = new Map<string, EnvironmentParts & { parts: EnvironmentPart[] }>()
  for (const event of events) {
    const { environment, at } = event
    const parts = partsAfter(environments.get(environment)?.parts, event)
    if (parts === null) continue
    environments.delete(environment)
    environments.set(environment, { environment, parts, since: at })
  }
  return [...environments.values()].reverse()
}

/** The parts of the environment after the event; null if it changes nothing. */
function partsAfter(before: EnvironmentPart[] | undefined, event: LineEvent): EnvironmentPart[] | null {
  const { state, place, at, forgeDeploymentId } = event
  const share = event.share / wholeShare
  if (state === 'success') {
    const part = { place, mergedBy: null, share, forgeDeploymentId }
    if (share >= 1) return [part]
    const others = (before ?? [{ place: null, mergedBy: at, share: 1, forgeDeploymentId: null }]).filter(
      (other) => other.place?.sha !== place.sha,
    )
    return others.length === 0 ? [{ ...part, share: 1 }] : [...scaled(others, 1 - share), part]
  }
  if (state !== 'inactive' || before === undefined) return null
  // A forge ends a deployment when a newer one replaces it. That may be another one of the same commit.
  const isEnded = (part: EnvironmentPart) =>
    forgeDeploymentId === null ? part.place?.sha === place.sha : part.forgeDeploymentId === forgeDeploymentId
  const rest = before.filter((part) => !isEnded(part))
  return rest.length === before.length ? null : scaled(rest, 1)
}

function scaled(parts: EnvironmentPart[], total: number): EnvironmentPart[] {
  const sum = parts.reduce((sum, { share }) => sum + share, 0)
  return parts.map((part) => ({ ...part, share: (part.share / sum) * total }))
}

/** Compares by what changed prompts: most deployments are of commits that changed none. */
function sameParts(a: LivePart[], b: LivePart[]): boolean {
  return (
    a.length === b.length &&
    a.every((part, i) => {
      const other = b[i] as LivePart
      return (
        part.share === other.share &&
        part.environment === other.environment &&
        part.mergedBy === other.mergedBy &&
        samePlace(part.place, other.place)
      )
    })
  )
}

function samePlace(a: Place | null, b: Place | null): boolean {
  if (a === null || b === null) return a === b
  return a.sha === b.sha || (a.seq !== null && a.seq === b.seq && a.orphanedAt === b.orphanedAt)
}
