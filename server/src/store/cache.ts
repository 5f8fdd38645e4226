import type { Access, SigningAccess } from '../domain/access/api-key.ts'
import type { LineSegment } from '../domain/deployments/live-line.ts'
import type { LandedChange } from '../domain/history/change.ts'
import type { HistoryEntry } from '../domain/history/entry.ts'
import type { HistoryPage } from '../domain/history/history.ts'
import type { Prompt, PromptPage } from '../domain/prompt.ts'
import { maxVersions } from '../domain/signals/signal.ts'
import type { VersionText } from '../domain/signals/version.ts'
import type { Store } from '../domain/store.ts'

class Cache<Value> {
  readonly #maxWeight: number
  readonly #weightOf: (value: Value) => number
  hits = 0
  misses = 0
  #values = new Map<string, Value>()
  #weight = 0
  #pending = new Map<string, Promise<unknown>>()

  /** A value that weighs more than the whole cache may is found again for each request. */
  constructor(maxWeight: number, weightOf: (value: Value) => number = () => 1) {
    this.#maxWeight = maxWeight
    this.#weightOf = weightOf
  }

  get<Missing = never>(key: string, find: () => Promise<Value | Missing>): Promise<Value | Missing> {
    const cached = this.#values.get(key)
    if (cached !== undefined) {
      this.hits++
      return Promise.resolve(cached)
    }
    this.misses++
    return this.#find(key, find)
  }

  /** Shares one query between concurrent misses of a key, so a `clear` under load does not cause a stampede. */
  #find<Missing>(key: string, find: () => Promise<Value | Missing>): Promise<Value | Missing> {
    const pending = this.#pending as Map<string, Promise<Value | Missing>>
    let result = pending.get(key)
    if (result === undefined) {
      // `clear` replaces both maps, so a result from before it does not end up in the cache.
      const values = this.#values
      result = find()
        .then((value) => {
          if (value !== null && values === this.#values) this.#keep(key, value as Value)
          return value
        })
        .finally(() => pending.delete(key))
      pending.set(key, result)
    }
    return result
  }

  #keep(key: string, value: Value): void {
    const weight = this.#weightOf(value)
    if (weight > this.#maxWeight) return
    this.#weight += weight
    for (const [oldest, dropped] of this.#values) {
      if (this.#weight <= this.#maxWeight) break
      this.#values.delete(oldest)
      this.#weight -= this.#weightOf(dropped)
    }
    this.#values.set(key, value)
  }

  clear(): void {
    this.#values = new Map()
    this.#weight = 0
    this.#pending = new Map()
  }
}

// Of all prompts together. With the 740 bytes that are remembered of each, up to 80 MB.
const maxCachedChanges = 110_000
// Of some sixty pages of a hundred prompts with two changes each: up to 15 MB, with what is remembered of them.
const maxNewestChanges = 20_000
// Up to 10 MB, of two bytes for each. Names and paths are as long as a tenant makes them.
const maxListedCharacters = 5_000_000
const charactersPerPrompt = 200
// Of all prompts with deployments of their own together, or 10,000 prompts without.
const maxLineSegments = 100_000
// Also up to 10 MB. A name, an email address, a branch and a URL are as long as their writers make them.
const maxEntryCharacters = 5_000_000
const charactersPerEntry = 300

const noLine: LineSegment[] = []

/** Bounded caches, cleared as a whole on any change to the data behind them. */
export function createCaches() {
  const caches = {
    keys: new Cache<Access>(10_000),
    signing_keys: new Cache<SigningAccess>(10_000),
    sessions: new Cache<Access>(10_000),
    prompts: new Cache<Prompt>(10_000),
    /** By name or path. */
    named_prompts: new Cache<Prompt[]>(10_000),
    /** By name, without a search. One past the end is not kept: its number, which is in its key, may have any length. */
    prompt_pages: new Cache<PromptPage>(maxListedCharacters, ({ prompts }) =>
      prompts.length === 0 ? Number.POSITIVE_INFINITY : charactersOf(prompts),
    ),
    pages: new Cache<HistoryPage>(200),
    // A line can have thousands of segments.
    deployments: new Cache<LineSegment[]>(50),
    /** Of prompts with deployments of their own, and `noLine` of all others. */
    prompt_lines: new Cache<LineSegment[]>(maxLineSegments, ({ length }) => length + 10),
    /** Whether a prompt has ever had a trial. */
    tried_prompts: new Cache<boolean>(10_000),
    // So can a history. The times in which its changes were live are remembered with it (domain/impact/live/live-periods.ts).
    changes: new Cache<LandedChange[]>(maxCachedChanges, ({ length }) => length + 100),
    /** Of a page of changes, or the last changes of a page of prompts. */
    entries: new Cache<HistoryEntry[]>(maxEntryCharacters, entryCharacters),
    /** The newest changes of the prompts of a page. */
    newest_changes: new Cache<LandedChange[][]>(maxNewestChanges, (lists) =>
      lists.reduce((sum, { length }) => sum + length + 1, 0),
    ),
    versions: new Cache<VersionText[]>(50, ({ length }) => (length <= maxVersions ? 1 : Number.POSITIVE_INFINITY)),
  }
  let generation = 0
  return {
    ...caches,
    stats: () => caches,
    countHit(name: keyof typeof caches) {
      caches[name].hits++
    },
    /** How often they were cleared. */
    generation: () => generation,
    clear() {
      generation++
      for (const cache of Object.values(caches)) cache.clear()
    },
  }
}

function charactersOf(prompts: Prompt[]): number {
  return prompts.reduce((sum, { name, path }) => sum + charactersPerPrompt + name.length + (path?.length ?? 0), 0)
}

function entryCharacters(entries: HistoryEntry[]): number {
  return entries.reduce(
    (sum, { user, branchName, prUrl }) =>
      sum + charactersPerEntry + user.name.length + user.email.length + branchName.length + (prUrl?.length ?? 0),
    charactersPerEntry,
  )
}

/** Caches the lookups that requests repeat: keys, sessions, prompts, history pages and changes. */
export function withCache(store: Store, caches: ReturnType<typeof createCaches>): Store {
  return {
    ...store,
    keys: {
      ...store.keys,
      findAccess: (keyHash) => caches.keys.get(keyHash, () => store.keys.findAccess(keyHash)),
      findSigning: (signingId) => caches.signing_keys.get(signingId, () => store.keys.findSigning(signingId)),
    },
    sessions: {
      ...store.sessions,
      findAccess: (tokenHash) => caches.sessions.get(tokenHash, () => store.sessions.findAccess(tokenHash)),
    },
    prompts: {
      ...store.prompts,
      find: (organisationId, publicId) =>
        caches.prompts.get(`${organisationId} ${publicId}`, () => store.prompts.find(organisationId, publicId)),
      named: async (organisationId, text) => {
        const found = await caches.named_prompts.get(`${organisationId} ${text}`, async () => {
          const prompts = await store.prompts.named(organisationId, text)
          // Unknown names are not cached, so that requests cannot fill the cache with text of their own.
          return prompts.length === 0 ? null : prompts
        })
        return found ?? []
      },
      page: (organisationId, filter, order, request) => {
        const find = () => store.prompts.page(organisationId, filter, order, request)
        // Other orders follow the votes, and what is searched for is text of the requests.
        if (order.by !== 'name' || filter.search !== '' || filter.glob !== null) return find()
        const key = `${organisationId} ${order.descending} ${request.page} ${request.limit}`
        return caches.prompt_pages.get(key, find)
      },
    },
    history: {
      ...store.history,
      page: (prompt, request) => {
        const key = `${prompt.organisationId} ${prompt.id} ${request.page} ${request.limit}`
        return caches.pages.get(key, () => store.history.page(prompt, request))
      },
      landedChanges: (prompt) =>
        caches.changes.get(`${prompt.organisationId} ${prompt.id}`, () => store.history.landedChanges(prompt)),
      newestChanges: (prompts, limit) => {
        const key = `${limit} ${prompts.map(({ id }) => id)}`
        return caches.newest_changes.get(key, () => store.history.newestChanges(prompts, limit))
      },
      plainEntries: (organisationId, ids) =>
        caches.entries.get(`${organisationId} ${ids}`, () => store.history.plainEntries(organisationId, ids)),
    },
    signals: {
      ...store.signals,
      versionNames: (prompt) =>
        caches.versions.get(`${prompt.organisationId} ${prompt.id}`, () => store.signals.versionNames(prompt)),
    },
    deployments: {
      ...store.deployments,
      line: (organisationId, repositoryId) =>
        caches.deployments.get(`${organisationId} ${repositoryId}`, () =>
          store.deployments.line(organisationId, repositoryId),
        ),
      promptLine: async (prompt) => {
        const find = async () => (await store.deployments.promptLine(prompt)) ?? noLine
        const found = await caches.prompt_lines.get(`${prompt.organisationId} ${prompt.id}`, find)
        return found === noLine ? null : found
      },
    },
    trials: {
      ...store.trials,
      ofChanges: async (prompt, changes) => {
        const key = `${prompt.organisationId} ${prompt.id}`
        const isTried = await caches.tried_prompts.get(key, () => store.trials.isTried(prompt))
        return isTried ? store.trials.ofChanges(prompt, changes) : []
      },
    },
  }
}
