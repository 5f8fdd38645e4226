import type { DeploymentStore } from '../deployments/deployment.ts'
import { invalidField } from '../errors.ts'
import type { EntryDetails } from '../history/entry.ts'
import type { HistoryStore, TextCursor, VersionBlob } from '../history/history.ts'
import { type LivePeriod, liveFrom, liveUntil } from '../impact/live/live-window.ts'
import { periodsOf } from '../impact/reading/vote-history.ts'
import type { Prompt, PromptStore } from '../prompt.ts'
import type { RepositoryService } from '../repositories/repository-service.ts'
import type { Instant } from '../time.ts'
import type { Excerpt } from './phrase.ts'

/** Versions of a prompt in a row that contain a phrase. */
export interface TextMatch {
  prompt: Prompt
  /** The newest of them, which the excerpt is from. */
  entry: EntryDetails
  /** The oldest of them, which brought the phrase. */
  firstEntry: EntryDetails
  versionCount: number
  liveFrom: Instant
  /** Null while one of them is live. */
  liveUntil: Instant | null
  excerpt: Excerpt
}

interface TextSearch {
  /** What is live first, then the newest prompt and its newest version. */
  matches: TextMatch[]
  /** How many versions were searched, and how many could not be: their text is unknown, too large or not in git. */
  examined: number
  skipped: number
  /** Where to continue. Null if all versions have been examined. */
  cursor: TextCursor | null
}

interface TextSearchStores {
  history: Pick<HistoryStore, 'landedChanges' | 'entries' | 'versionBlobs'>
  deployments: Pick<DeploymentStore, 'line' | 'promptLine' | 'places'>
  prompts: Pick<PromptStore, 'withIds'>
}

interface TextSearchRequest {
  organisationId: number
  /** Null for every prompt. */
  promptIds: number[] | null
  phrase: string
  /** How many matches to return. */
  limit: number
  cursor: TextCursor | null
}

// A search examines at most this many versions, and works for about this long. Then the caller continues from the cursor.
const maxExamined = 10_000
const maxMs = 1_000
const versionsPerSlice = 1_000

interface Run {
  newest: number
  oldest: number
  versionCount: number
  periods: LivePeriod[]
  excerpt: Excerpt
  prompt: Prompt
}

/** Searches the texts of all versions that were ever live. */
export async function searchTexts(
  stores: TextSearchStores,
  repositories: Pick<RepositoryService, 'searchTexts'>,
  { organisationId, promptIds, phrase, limit, cursor: from }: TextSearchRequest,
  now: Instant,
): Promise<TextSearch> {
  const deadline = performance.now() + maxMs
  const runs: Run[] = []
  // The last run, while the versions before it may belong to it.
  let open: Run | null = null
  let [examined, skipped] = [0, 0]
  let cursor = from
  const knownPrompts = new Map<number, { prompt: Prompt; periods: Map<number, LivePeriod> } | null>()

  async function promptOf(promptId: number) {
    const known = knownPrompts.get(promptId)
    if (known !== undefined) return known
    const [prompt] = await stores.prompts.withIds(organisationId, [promptId])
    const found = prompt === undefined ? null : { prompt, periods: (await periodsOf(stores, prompt, now)).live.periods }
    knownPrompts.set(promptId, found)
    return found
  }

  /** Returns false if there is no room for a match. */
  async function add({ id, promptId }: VersionBlob, excerpt: Excerpt | null): Promise<boolean> {
    if (open !== null && open.prompt.id !== promptId) open = null
    // Without a match in this prompt, nothing has to be known about it.
    if (excerpt === null && open === null) return true
    const found = await promptOf(promptId)
    const period = found?.periods.get(id)
    // Deleted prompts are not found, nor are versions that never went live.
    if (found === null || period === undefined) return true
    if (excerpt === null) {
      open = null
    } else if (open !== null) {
      open.oldest = id
      open.versionCount++
      open.periods.push(period)
    } else {
      if (runs.length === limit) return false
      open = { newest: id, oldest: id, versionCount: 1, periods: [period], excerpt, prompt: found.prompt }
      runs.push(open)
    }
    return true
  }

  const finish = async (next: TextCursor | null): Promise<TextSearch> => ({
    matches: await matchesOf(stores, organisationId, runs),
    examined,
    skipped,
    cursor: next,
  })

  for (;;) {
    const slice = await stores.history.versionBlobs(organisationId, promptIds, cursor, versionsPerSlice)
    if (slice.length === 0) return finish(null)
    for (const part of byRepository(slice)) {
      if (cursor !== from && performance.now() > deadline) return finish(cursor)
      const { repositoryId } = part[0] as VersionBlob
      const blobs = [...new Set(part.flatMap(({ blob }) => blob ?? []))]
      const leftMs = Math.max(0, deadline - performance.now())
      const found =
        repositoryId === null || blobs.length === 0
          ? null
          : await repositories.searchTexts(repositoryId, blobs, phrase, leftMs)
      const searched = new Set(found === null ? [] : blobs.slice(0, found.examined))
      const unreadable = new Set(found?.unreadable)
      for (const version of part) {
        const { blob } = version
        // The time is over. The first text is always searched, so that every request gets further.
        if (repositoryId !== null && blob !== null && !searched.has(blob)) return finish(cursor)
        const isUnknown = repositoryId === null || (blob !== null && unreadable.has(blob))
        if (!isUnknown && !(await add(version, (blob && found?.excerpts.get(blob)) || null))) return finish(cursor)
        if (isUnknown) skipped++
        else examined++
        cursor = version
      }
    }
    if (slice.length < versionsPerSlice) return finish(null)
    if (examined + skipped >= maxExamined || performance.now() > deadline) return finish(cursor)
  }
}

/** The versions in parts, in the same order, each of one repository. */
function byRepository(versions: VersionBlob[]): VersionBlob[][] {
  const parts: VersionBlob[][] = []
  for (const version of versions) {
    const last = parts.at(-1)
    if (last?.[0]?.repositoryId === version.repositoryId) last.push(version)
    else parts.push([version])
  }
  return parts
}

async function matchesOf({ history }: TextSearchStores, organisationId: number, runs: Run[]): Promise<TextMatch[]> {
  const ids = [...new Set(runs.flatMap(({ newest, oldest }) => [newest, oldest]))]
  const entries = new Map((await history.entries(organisationId, ids)).map((entry) => [entry.id, entry]))
  const matches = runs.flatMap(({ prompt, newest, oldest, versionCount, periods, excerpt }): TextMatch[] => {
    const [entry, firstEntry] = [entries.get(newest), entries.get(oldest)]
    if (entry === undefined || firstEntry === undefined) return []
    const ends = periods.map(liveUntil)
    return [
      {
        prompt,
        entry,
        firstEntry,
        versionCount,
        excerpt,
        liveFrom: Math.min(...periods.map(liveFrom)),
        liveUntil: ends.includes(null) ? null : Math.max(...(ends as Instant[])),
      },
    ]
  })
  const isPast = ({ liveUntil }: TextMatch) => Number(liveUntil !== null)
  return matches.sort((a, b) => isPast(a) - isPast(b))
}

export function textCursorText({ promptId, createdAt, id }: TextCursor): string {
  return `${promptId}-${createdAt}-${id}`
}

export function parseTextCursor(text: string): TextCursor {
  const [, promptId, createdAt, id] = /^(\d{1,15})-(\d{1,15})-(\d{1,15})$/.exec(text) ?? []
  if (id === undefined) throw invalidField('cursor', 'must be the cursor of a previous response')
  return { promptId: Number(promptId), createdAt: Number(createdAt), id: Number(id) }
}
