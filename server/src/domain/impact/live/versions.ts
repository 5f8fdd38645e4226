import type { DeploymentStore } from '../../deployments/deployment.ts'
import type { EntryDetails } from '../../history/entry.ts'
import type { HistoryStore } from '../../history/history.ts'
import { matchesWords, wordsOf } from '../../history/version-search.ts'
import { type PageRequest, pageOffset } from '../../page.ts'
import type { Prompt } from '../../prompt.ts'
import { createTurns, type Instant } from '../../time.ts'
import { periodsOf } from '../reading/vote-history.ts'
import type { LivePartOfChange, LivePeriod } from './live-window.ts'

/** A change that went live. */
export interface Version {
  entry: EntryDetails
  period: LivePeriod
  /** How it is live now; null if it is not. */
  live: LivePartOfChange | null
}

interface Versions {
  versions: Version[]
  totalCount: number
  /** Whether the search examined all versions. */
  isComplete: boolean
}

interface VersionStores {
  history: Pick<HistoryStore, 'landedChanges' | 'entries' | 'searchTexts'>
  deployments: Pick<DeploymentStore, 'line' | 'promptLine' | 'places'>
}

// Bounds the time of a search. Older versions are found by paging.
const maxSearched = 5_000
const searchedAtOnce = 500

/** The changes of a prompt that went live, newest first. Nothing is judged. Every word of `search` has to match. */
export async function versionsOf(
  stores: VersionStores,
  prompt: Prompt,
  search: string,
  request: PageRequest,
  now: Instant,
): Promise<Versions> {
  const { live, periods } = await periodsOf(stores, prompt, now)
  const newest = periods.toReversed()
  const words = wordsOf(search)
  const found = words.length === 0 ? newest : await matching(stores, prompt, newest.slice(0, maxSearched), words)
  const offset = pageOffset(request)
  const page = found.slice(offset, offset + request.limit)
  const entries = await stores.history.entries(
    prompt.organisationId,
    page.map(({ change }) => change.id),
  )
  const entryOf = new Map(entries.map((entry) => [entry.id, entry]))
  const liveNow = new Map(live.at(now).map((part) => [part.change.id, part]))
  return {
    versions: page.flatMap((period): Version[] => {
      const entry = entryOf.get(period.change.id)
      return entry === undefined ? [] : [{ entry, period, live: liveNow.get(entry.id) ?? null }]
    }),
    totalCount: found.length,
    isComplete: words.length === 0 || newest.length <= maxSearched,
  }
}

/** When a change was live; null if it never was. */
export async function periodOf(
  stores: Parameters<typeof periodsOf>[0],
  prompt: Prompt,
  entryId: number,
  now: Instant,
): Promise<LivePeriod | null> {
  return (await periodsOf(stores, prompt, now)).live.periods.get(entryId) ?? null
}

async function matching(
  { history }: VersionStores,
  { organisationId }: Prompt,
  periods: LivePeriod[],
  words: string[],
): Promise<LivePeriod[]> {
  const found: LivePeriod[] = []
  const takeTurns = createTurns()
  for (let at = 0; at < periods.length; at += searchedAtOnce) {
    const part = periods.slice(at, at + searchedAtOnce)
    const ids = part.map(({ change }) => change.id)
    const texts = new Map((await history.searchTexts(organisationId, ids)).map((text) => [text.id, text]))
    for (const period of part) {
      const text = texts.get(period.change.id)
      if (text !== undefined && matchesWords(text, words)) found.push(period)
    }
    await takeTurns()
  }
  return found
}
