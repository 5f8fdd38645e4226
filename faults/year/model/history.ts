// What a verdict says has tests of its own; here it matters which signals it is made of.

import { isDeepStrictEqual } from 'node:util'
import { differenceOf, verdictOf } from '../../../server/src/domain/impact/verdict.ts'
import { any, invalid, type Prediction, page, parsed, type Query, type Request, spanIn, timeIn } from './request.ts'
import { tally } from './signals.ts'
import type { Entry, Model, Prompt } from './state.ts'
import { floor, hour, iso } from './time.ts'

export function recordEntry(prompt: Prompt, { body = '' }: Request): Prediction {
  const told = parsed(body) as unknown as Omit<Entry, 'id'>
  const isPull = told.action !== 'deployed'
  const sound =
    ['deployed', 'pr_opened', 'pr_merged', 'pr_closed'].includes(told.action) &&
    /^[0-9a-f]{40}$/i.test(told.commit_sha) &&
    (isPull ? told.pr_number !== null && told.pr_url !== null : told.pr_number === null && told.pr_url === null)
  if (!sound) throw invalid()
  const entry = { ...told, commit_sha: told.commit_sha.toLowerCase(), created_at: iso(timeIn(told.created_at)) }
  const same = prompt.entries.find(({ id: _, ...known }) => isDeepStrictEqual(known, entry))
  if (same !== undefined) return { status: 201, body: { data: same }, headers: {} }
  return {
    status: 201,
    body: { data: { id: any, ...entry } },
    headers: {},
    learn: ({ data }: { data: Entry }) => prompt.entries.push(data),
  }
}

/** What went live, newest first. */
export function changes(entries: Entry[]): Entry[] {
  return newestFirst(entries).filter(({ action }) => action === 'deployed' || action === 'pr_merged')
}

export function newestFirst(entries: Entry[]): Entry[] {
  return entries.toSorted((a, b) => Date.parse(b.created_at) - Date.parse(a.created_at) || b.id - a.id)
}

export function impactOf(model: Model, prompt: Prompt, entry: Entry): object {
  const all = changes(prompt.entries)
  const at = all.indexOf(entry)
  const [next, earlier] = [all[at - 1], all[at + 1]]
  const before = earlier === undefined ? tally([]) : tallyBetween(model, prompt, earlier, entry)
  const after = tallyBetween(model, prompt, entry, next)
  const found = differenceOf(before, after)
  return {
    live_from: entry.created_at,
    live_until: next?.created_at ?? null,
    before: { ...before, rate: rate(before) },
    after: { ...after, rate: rate(after) },
    difference: found && rounded(found.difference),
    interval: found?.interval.map(rounded) ?? null,
    verdict: verdictOf(before, after),
  }
}

/** While a change was live. Of signals that are removed only the hour is known: all of it counts for what went live in it. */
function tallyBetween(model: Model, { signals }: Prompt, entry: Entry, next: Entry | undefined) {
  const known = (time: string) =>
    Date.parse(time) < model.keptSince ? floor(Date.parse(time), hour) : Date.parse(time)
  const [from, until] = [
    known(entry.created_at),
    next === undefined ? Number.POSITIVE_INFINITY : known(next.created_at),
  ]
  return tally(signals.filter(({ createdAt }) => createdAt >= from && createdAt < until))
}

export function rate({ positive, negative }: { positive: number; negative: number }): number | null {
  return positive + negative === 0 ? null : positive / (positive + negative)
}

function rounded(share: number): number {
  return Math.round(share * 1e6) / 1e6
}

export function timeline(model: Model, prompt: Prompt, query: Query): object {
  const [since, until] = spanIn(query.since, query.until)
  const actions = query.action?.split(',')
  if (actions?.some((action) => !['deployed', 'pr_opened', 'pr_merged', 'pr_closed'].includes(action))) throw invalid()
  const live = changes(prompt.entries)
  const entries = newestFirst(prompt.entries).filter(({ action, created_at }) => {
    const at = Date.parse(created_at)
    return (actions?.includes(action) ?? true) && (since ?? 0) <= at && at < (until ?? Number.POSITIVE_INFINITY)
  })
  return page(
    entries.map((entry) => {
      const impact = live.includes(entry) ? impactOf(model, prompt, entry) : null
      return { entry, message: null, actor: null, path: null, commit_url: null, impact }
    }),
    query,
  )
}
