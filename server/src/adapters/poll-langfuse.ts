import { hash } from 'node:crypto'
import { operator } from '../domain/access/audit.ts'
import type { BoundedMap } from '../domain/bounded-map.ts'
import { newHistoryEntry } from '../domain/history/entry.ts'
import { limitContainers } from '../domain/json-containers.ts'
import { findPrompt } from '../domain/prompt-reference.ts'
import type { Source } from '../domain/sources/source.ts'
import { sourcePlace } from '../domain/sources/source.ts'
import type { Store } from '../domain/store.ts'
import { sanitisedLine } from '../domain/text.ts'
import { day, hour, type Instant, isoTime, minute } from '../domain/time.ts'
import { type Network, sendRequest } from '../net/request.ts'
import { accessOf, type ReceiveContext, type Received, receiveEvents, type SourceOfPlan } from './receive.ts'

export interface PollContext extends ReceiveContext {
  store: Pick<Store, 'signals' | 'prompts' | 'history'>
  network: Network
  /** Scores that this process has read lately, with when they changed: their prompt need not be asked for again. */
  seen: BoundedMap<true>
  /** Ends the poll, such as because it takes too long. */
  signal: AbortSignal
}

/** What a poll has read. The next one continues at `readUntil`. */
export interface Polled extends Received {
  /** Null while older versions of prompts are left. */
  readUntil: Instant | null
}

/** Langfuse could not be read, for a reason that an admin can act on. */
export class PollError extends Error {}

const pageSize = 50
// Each score may need a request for its prompt, so that a poll sends a few hundred at most.
const maxPages = 6
// Twice as many are not too many events.
const maxLongPages = 10
const maxPromptPages = 10
const maxVersionsPerPoll = 100
const requestTimeoutMs = 5_000
const megabyte = 1024 * 1024
// Parsing takes time from requests, and all scores of a poll are held at once.
const maxBytes = { response: 4 * megabyte, poll: 16 * megabyte, scores: 4 * megabyte }
// Older votes are not accepted.
const firstRead = 30 * day - hour
// Scores are readable some minutes after they were created. Those that are read twice count once.
const overlapMs = 15 * minute

function tooSlow(): PollError {
  return new PollError('Langfuse responds too slowly')
}

/** Reads new versions of prompts, then new scores. What was read before changes nothing. */
export async function pollLangfuse(context: PollContext, source: SourceOfPlan): Promise<Polled> {
  const api = createApi(context, source)
  const now = context.clock()
  const readUntil = source.readUntil ?? now - firstRead
  const isComplete = await recordVersions(context, source, api, readUntil)
  const polled = await recordScores(context, source, api, readUntil, now)
  return isComplete ? polled : { ...polled, readUntil: source.readUntil }
}

interface Score {
  id?: unknown
  updatedAt?: unknown
  traceId?: unknown
  observationId?: unknown
}

async function recordScores(
  context: PollContext,
  source: SourceOfPlan,
  api: Api,
  readUntil: Instant,
  now: Instant,
): Promise<Polled> {
  const { scores, until } = await readScores(source, api, readUntil, now)
  const promptOf = promptFinder(api)
  const keyOf = ({ id, updatedAt }: Score) => seenKey(source, id, updatedAt)
  const unseen = scores.filter((score) => context.seen.get(keyOf(score)) === undefined)
  const events: object[] = []
  const added: Score[] = []
  for (const score of unseen) {
    try {
      events.push({ ...score, prompt: await promptOf(score) })
    } catch (error) {
      // What was read until here counts, so that a source behind a limit of requests makes progress.
      if (!(error instanceof PollError) || added.length === 0) throw error
      break
    }
    added.push(score)
  }
  const received = await receiveEvents(context, source, events)
  for (const score of added) context.seen.set(keyOf(score), true)
  // What was not reached is read again, without what was.
  return { ...received, readUntil: added.length === unseen.length ? until : readUntil }
}

/** The scores from `readUntil` on. A window with more than a poll may read is halved, so that none is left out. */
async function readScores(
  { settings: { score } }: Source,
  api: Api,
  readUntil: Instant,
  now: Instant,
): Promise<{ scores: Score[]; until: Instant }> {
  async function read(from: Instant, until: Instant, mayBeLong: boolean): Promise<Score[] | null> {
    const range = { fromTimestamp: isoTime(from), toTimestamp: isoTime(until), limit: String(pageSize) }
    const pageOf = (page: number) =>
      api.page('v2/scores', { ...range, page: String(page), ...(score !== null && { name: score }) })
    const { items, totalPages } = await pageOf(1)
    if (totalPages > maxPages && !mayBeLong) return null
    const scores = [...items]
    for (let page = 2; page <= Math.min(totalPages, maxLongPages); page++) scores.push(...(await pageOf(page)).items)
    return scores as Score[]
  }

  const late = await read(Math.max(readUntil - overlapMs, now - firstRead), readUntil, true)
  for (let until = now; ; until = Math.floor((readUntil + until) / 2)) {
    const scores = await read(readUntil, until, until - readUntil <= minute)
    if (scores !== null) return { scores: [...(late ?? []), ...scores], until }
  }
}

/** The prompt of a score: that of its observation, or of the first generation of its trace that has one. Null if none has. */
function promptFinder(api: Api): (score: Score) => Promise<object | null> {
  const known = new Map<string, Promise<object | null>>()

  async function find({ traceId, observationId }: Score): Promise<object | null> {
    if (typeof observationId === 'string') {
      const observation = await api.get(`observations/${encodeURIComponent(observationId)}`)
      const prompt = promptIn(observation)
      if (prompt !== null) return prompt
    }
    if (typeof traceId !== 'string') return null
    const { items } = await api.page('observations', { traceId, type: 'GENERATION', limit: String(pageSize) })
    return items.map(promptIn).find((prompt) => prompt !== null) ?? null
  }

  return (score) => {
    const key = JSON.stringify([score.traceId, score.observationId])
    const found = known.get(key) ?? find(score)
    known.set(key, found)
    return found
  }
}

function promptIn(observation: unknown): object | null {
  const { promptName: name, promptVersion: version } = (observation ?? {}) as Record<string, unknown>
  if (typeof name !== 'string' || name === '') return null
  return { name, version: typeof version === 'number' ? versionSha(name, version) : null }
}

/** Langfuse numbers versions, and history entries have a commit: the same one for the same version, in every poll. */
export function versionSha(name: string, version: number): string {
  return hash('sha1', `langfuse ${name} ${version}`, 'hex')
}

/** Bounded, unlike what Langfuse sends. */
function seenKey({ publicId }: Source, ...parts: unknown[]): string {
  return hash('sha256', JSON.stringify([publicId, ...parts]), 'base64')
}

/** Records versions of the prompts that exist here, as changes. Returns whether none is left for the next poll. */
async function recordVersions(
  { store, clock, seen }: PollContext,
  source: SourceOfPlan,
  api: Api,
  readUntil: Instant,
): Promise<boolean> {
  const isFirst = source.readUntil === null
  let left = maxVersionsPerPoll
  for (let page = 1; page <= maxPromptPages; page++) {
    const updated = isFirst ? {} : { fromUpdatedAt: isoTime(readUntil - overlapMs) }
    const { items, totalPages } = await api.page('v2/prompts', { limit: '100', page: String(page), ...updated })
    for (const item of items) {
      const { name, versions } = (item ?? {}) as { name?: unknown; versions?: unknown }
      if (typeof name !== 'string' || !Array.isArray(versions)) continue
      const prompt = await findPrompt(store.prompts, accessOf(source), name).catch(() => null)
      if (prompt === null) continue
      for (const version of versions.filter((each) => Number.isSafeInteger(each)) as number[]) {
        const key = seenKey(source, name, version)
        if (seen.get(key) !== undefined) continue
        if (left <= 0) return false
        const found = await api.get(`v2/prompts/${encodeURIComponent(name)}`, { version: String(version) })
        left--
        const { createdAt, createdBy } = (found ?? {}) as Record<string, unknown>
        const at = typeof createdAt === 'string' ? Date.parse(createdAt) : Number.NaN
        if (!(at > 0) || at > clock()) continue
        const entry = newHistoryEntry({
          action: 'deployed',
          user: { name: sanitisedLine(String(createdBy ?? ''), 200, 'Langfuse'), email: 'langfuse' },
          commitSha: versionSha(name, version),
          prNumber: null,
          prUrl: null,
          branchName: 'langfuse',
          createdAt: at,
        })
        await store.history.record(prompt, entry, clock(), operator)
        seen.set(key, true)
      }
    }
    if (page >= totalPages) return true
  }
  return true
}

interface Page {
  items: unknown[]
  totalPages: number
}

interface Api {
  /** Null if it does not exist. */
  get(path: string, query?: Record<string, string>): Promise<unknown>
  page(path: string, query: Record<string, string>): Promise<Page>
}

/** Reads the public API of Langfuse, with the keys of the source: `public:secret`. */
function createApi({ vault, network, signal }: PollContext, source: Source): Api {
  const { sealedSecret } = source
  if (sealedSecret === null) throw new PollError('the keys of Langfuse are missing: set them as public:secret')
  const keys = vault.decrypt(sealedSecret, sourcePlace(source))
  const headers = { Authorization: `Basic ${Buffer.from(keys).toString('base64')}`, Accept: 'application/json' }
  const left = { poll: maxBytes.poll, scores: maxBytes.scores }

  async function get(path: string, query: Record<string, string> = {}): Promise<unknown> {
    const kind = path === 'v2/scores' ? 'scores' : 'poll'
    if (left[kind] <= 0) throw new PollError('Langfuse sends too much at once')
    if (signal.aborted) throw tooSlow()
    const url = `${source.settings.baseUrl}/api/public/${path}?${new URLSearchParams(query)}`
    const result = await sendRequest(network, url, {
      method: 'GET',
      headers,
      maxResponseBytes: Math.min(maxBytes.response, left[kind]),
      timeoutMs: requestTimeoutMs,
      signal,
    })
    if (signal.aborted) throw tooSlow()
    if (result.kind === 'response') left[kind] -= Buffer.byteLength(result.body)
    if (result.kind === 'failure') throw new PollError(`Langfuse cannot be read: ${result.reason}`)
    const { status, body, isTruncated } = result
    if (status === 404) return null
    if (status === 401 || status === 403) throw new PollError('Langfuse rejects the keys: set them as public:secret')
    if (status === 429) throw new PollError('Langfuse accepts no more requests for a while')
    if (status !== 200) throw new PollError(`Langfuse responded with ${status} instead of 200`)
    if (isTruncated) throw new PollError('a response of Langfuse is too large')
    try {
      limitContainers(Buffer.from(body))
      return JSON.parse(body)
    } catch {
      throw new PollError('Langfuse responded with something that is not JSON')
    }
  }

  return {
    get,
    async page(path, query) {
      const { data, meta } = ((await get(path, query)) ?? {}) as { data?: unknown; meta?: { totalPages?: unknown } }
      const { totalPages } = meta ?? {}
      return {
        items: Array.isArray(data) ? data.slice(0, Number(query.limit)) : [],
        totalPages: typeof totalPages === 'number' ? totalPages : 1,
      }
    },
  }
}
