import { isDeepStrictEqual } from 'node:util'
import type { Entry } from '../../testing/scenario.ts'
import { audit } from './audit.ts'
import { isDeployed } from './deployments.ts'
import {
  any,
  type Call,
  created,
  invalid,
  notFound,
  ok,
  others,
  type Prediction,
  page,
  parseObject,
  parseTime,
} from './request.ts'
import { rate, tally } from './signals.ts'
import { floor, hour, iso, type Model, type Prompt } from './state.ts'

const actions = ['deployed', 'pr_opened', 'pr_merged', 'pr_closed']

export function recordEntry({ organisation, key, prompt, request, now }: Call): Prediction {
  const given = parseObject(request.body) as unknown as Omit<Entry, 'id'>
  const hasPull = given.pr_number !== null && given.pr_url !== null
  if (!actions.includes(given.action) || hasPull === (given.action === 'deployed')) return invalid()
  if (!/^[0-9a-f]{40}$/i.test(given.commit_sha)) return invalid()
  const entry = { ...given, commit_sha: given.commit_sha.toLowerCase(), created_at: iso(parseTime(given.created_at)) }
  const recorded = prompt.entries.find(({ id: _, ...known }) => isDeepStrictEqual(known, entry))
  if (recorded !== undefined) return created({ data: recorded })
  return created<{ data: Entry }>({ data: { id: any, ...entry } }, ({ data }) => {
    prompt.entries.push(data)
    prompt.recordedBy.set(data.id, key.id)
    const { id: entry_id, action, commit_sha } = data
    const details = { entry_id, action, commit_sha }
    audit({ organisation, key, action: 'history.recorded', subject: prompt, details }, now)
  })
}

/** An entry that does not come from git has no texts. */
export function readEntry({ prompt, partId }: Call): Prediction {
  const entry = prompt.entries.find(({ id }) => String(id) === partId) ?? notFound()
  const unknown = { message: null, actor: null, path: null, before: null, after: null, patch: null }
  const key_id = prompt.recordedBy.get(entry.id) ?? null
  const states = { before_state: 'unavailable', after_state: 'unavailable' }
  return ok({ data: { ...entry, ...unknown, ...states, too_large: false, hidden_characters: any, key_id } })
}

export function listHistory({ prompt, query }: Call): Prediction {
  return ok(page(newestFirst(prompt), query))
}

/** What deployments, versions and voters make of it, and signals from after the clock was set back, have tests of their own. */
export function listImpact({ model, prompt, query, now }: Call): Prediction {
  const isPlain = prompt.signals.every(
    ({ version, voter, occurredAt }) => version === null && voter === null && occurredAt <= now,
  )
  if (isDeployed(prompt) || !isPlain) return ok({ data: any, pagination: any, [others]: true })
  const impacts = changesOf(prompt).map((entry) => ({ entry, ...impactOf(model, prompt, entry), [others]: true }))
  return ok({ ...page(impacts, query), unknown_versions: any })
}

/** The entries that went live, newest first. */
export function changesOf(prompt: Prompt): Entry[] {
  return newestFirst(prompt).filter(({ action }) => action === 'deployed' || action === 'pr_merged')
}

function newestFirst({ entries }: Prompt): Entry[] {
  return entries.toSorted((a, b) => Date.parse(b.created_at) - Date.parse(a.created_at) || b.id - a.id)
}

/** Verdicts have tests of their own. Here it matters which signals they are based on. */
function impactOf(model: Model, prompt: Prompt, entry: Entry) {
  const changes = changesOf(prompt)
  const at = changes.indexOf(entry)
  const [next, earlier] = [changes[at - 1], changes[at + 1]]
  const before = earlier === undefined ? tally([]) : tallyOf(model, prompt, earlier, Date.parse(entry.created_at))
  const after = tallyOf(
    model,
    prompt,
    entry,
    next === undefined ? Number.POSITIVE_INFINITY : Date.parse(next.created_at),
  )
  const [from, until] = [entry.created_at, next?.created_at ?? null]
  return {
    live_from: from,
    live_until: until,
    live_source: 'merge',
    live_windows: [{ from, until, share: 1, live_source: 'merge', environment: null }],
    before: { ...before, rate: rate(before) },
    after: { ...after, rate: rate(after) },
    unattributed: 0,
  }
}

/** Only hourly sums remain of deleted signals, so that a change which went live within an hour gets all of that hour. */
function tallyOf({ retainedSince }: Model, { signals }: Prompt, { created_at }: Entry, end: number) {
  const known = (at: number) => (at < retainedSince ? floor(at, hour) : at)
  const [from, until] = [known(Date.parse(created_at)), known(end)]
  return tally(signals.filter(({ occurredAt }) => occurredAt >= from && occurredAt < until))
}
