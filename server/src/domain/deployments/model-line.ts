import type { ModelChange } from '../telemetry/model-changes.ts'
import { type LineEvent, type LineSegment, liveLine } from './live-line.ts'

/** A deployment to a production environment, with the model that it serves. Its commit need not be located. */
export interface ModelEvent extends Omit<LineEvent, 'place'> {
  commitSha: string
  model: string | null
}

/**
 * The changes of the model that serves more than half of the production traffic, from deployments in order of time. One that names no
 * model says nothing about it: CI may name it for some deployments only, and forges, which report the same ones, never do.
 */
export function modelChangesOfDeployments(events: readonly ModelEvent[]): ModelChange[] {
  const modelOf = new Map<string, string | null>()
  const lastOf = new Map<string, string>()
  const line = liveLine(
    events.map(({ commitSha, model, ...event }) => {
      const where = JSON.stringify([event.environment, commitSha])
      // The same commit with another model is another version of what runs. The forge's report of one that CI named must not replace it.
      const known = model === null ? lastOf.get(where) : undefined
      const sha = known ?? JSON.stringify([commitSha, model])
      if (event.state === 'success') lastOf.set(where, sha)
      if (known === undefined) modelOf.set(sha, model)
      return { ...event, place: { sha, seq: null, orphanedAt: null } }
    }),
  )
  const changes: ModelChange[] = []
  let current: string | null = null
  for (const { from: at, parts } of line) {
    const main = mainOf(parts, modelOf)
    if (main === null || main === current) continue
    if (current !== null) changes.push({ at, from: current, to: main, source: 'deployments' })
    current = main
  }
  return changes
}

/** Null if no model, or none that is known, serves more than half. */
function mainOf(parts: LineSegment['parts'], modelOf: ReadonlyMap<string, string | null>): string | null {
  const shares = new Map<string, number>()
  for (const { place, share } of parts) {
    const model = place === null ? null : (modelOf.get(place.sha) ?? null)
    if (model !== null) shares.set(model, (shares.get(model) ?? 0) + share)
  }
  for (const [model, share] of shares) if (share > 0.5) return model
  return null
}
