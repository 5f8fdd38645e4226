import type { Access } from '../domain/access/api-key.ts'
import type { HistoryPage } from '../domain/history/history.ts'
import type { Prompt } from '../domain/prompt.ts'
import type { Store, StoreStats } from '../domain/store.ts'

/** Keeps what was found, up to a number of things, until it is told to forget. */
export interface Caches {
  access: Cache<Access>
  sessions: Cache<Access>
  prompts: Cache<Prompt>
  pages: Cache<HistoryPage>
  clear(): void
  stats(): StoreStats['caches']
}

class Cache<Value> {
  readonly #most: number
  hits = 0
  misses = 0
  #values = new Map<string, Value>()
  #finding = new Map<string, Promise<unknown>>()

  constructor(most: number) {
    this.#most = most
  }

  get<Missing = never>(key: string, find: () => Promise<Value | Missing>): Promise<Value | Missing> {
    const known = this.#values.get(key)
    if (known !== undefined) {
      this.hits++
      return Promise.resolve(known)
    }
    this.misses++
    return this.#find(key, find)
  }

  /** One look for all who ask for the same at once: after a `forget` that is everybody. */
  #find<Missing>(key: string, find: () => Promise<Value | Missing>): Promise<Value | Missing> {
    const finding = this.#finding as Map<string, Promise<Value | Missing>>
    let found = finding.get(key)
    if (found === undefined) {
      // After a `forget` meanwhile these are no longer the maps in use, so an answer from before it is not kept.
      const values = this.#values
      found = find()
        .then((value) => {
          if (value !== null) {
            if (values.size >= this.#most) values.delete(values.keys().next().value as string)
            values.set(key, value as Value)
          }
          return value
        })
        .finally(() => finding.delete(key))
      finding.set(key, found)
    }
    return found
  }

  clear(): void {
    this.#values = new Map()
    this.#finding = new Map()
  }
}

export function createCaches(): Caches {
  const access = new Cache<Access>(10_000)
  const sessions = new Cache<Access>(10_000)
  const prompts = new Cache<Prompt>(10_000)
  const pages = new Cache<HistoryPage>(200)
  return {
    access,
    sessions,
    prompts,
    pages,
    stats: () => ({ keys: access, sessions, prompts, pages }),
    clear() {
      for (const kept of [access, sessions, prompts, pages]) kept.clear()
    },
  }
}

/** The same store, answering from memory what requests ask for over and over. */
export function withCache(store: Store, memory: Caches): Store {
  return {
    ...store,
    keys: {
      ...store.keys,
      findAccess: (keyHash) => memory.access.get(keyHash, () => store.keys.findAccess(keyHash)),
    },
    sessions: {
      ...store.sessions,
      findAccess: (tokenHash) => memory.sessions.get(tokenHash, () => store.sessions.findAccess(tokenHash)),
    },
    prompts: {
      ...store.prompts,
      find: (organisationId, publicId) =>
        memory.prompts.get(`${organisationId} ${publicId}`, () => store.prompts.find(organisationId, publicId)),
    },
    history: {
      ...store.history,
      page: (prompt, request) => {
        const key = `${prompt.organisationId} ${prompt.id} ${request.page} ${request.limit}`
        return memory.pages.get(key, () => store.history.page(prompt, request))
      },
    },
  }
}
