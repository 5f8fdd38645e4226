import type { FastifyReply } from 'fastify'
import type { EntryDetails } from '../../domain/history/entry.ts'
import type { Prompt } from '../../domain/prompt.ts'
import type { Blame, Contents, EarliestText, RepositoryService } from '../../domain/repositories/repository-service.ts'
import type { Instant } from '../../domain/time.ts'
import { overloaded } from '../errors.ts'
import { createReadPool, limitsOfLongReads } from './read-pool.ts'

/** Reads texts for a response. Rejects with `overloaded` if too many requests wait. */
export interface ContentsReader {
  contents(organisationId: number, entry: EntryDetails, reply: FastifyReply): Promise<Contents>
  blame(organisationId: number, entry: EntryDetails, reply: FastifyReply): Promise<Blame>
  earliestText(prompt: Prompt, at: Instant, reply: FastifyReply): Promise<EarliestText | null>
}

/**
 * Bounds what reading texts from git can cost: a few reads run at once, requests for the same texts share one, and recent
 * results are cached. Blobs never change, so neither does a complete result.
 */
export function createContentsReader(
  repositories: Pick<RepositoryService, 'contents' | 'blame' | 'earliestText'>,
): ContentsReader {
  const pool = createReadPool()
  const blames = createReadPool(limitsOfLongReads)
  const contentsOf = createSharedReads<Contents>(isComplete, bytesOf)
  const blameOf = createSharedReads<Blame>(({ state }) => state === 'available', bytesOfBlame)
  const unsent = createUnsentBytes()

  function count(organisationId: number, bytes: number, reply: FastifyReply): void {
    // A large text has to fit beside those that clients have not finished reading.
    if (bytes > largeBytes && unsent.isFull(organisationId)) throw overloaded
    unsent.add(organisationId, bytes, reply)
  }

  async function contentsFor(organisationId: number, entry: EntryDetails, reply: FastifyReply): Promise<Contents> {
    // Entries from other systems have no texts.
    if (entry.repositoryId === null) return repositories.contents(entry)
    const { repositoryId, beforeBlob, afterBlob, oldPath, path } = entry
    const key = JSON.stringify([repositoryId, beforeBlob, afterBlob, oldPath, path])
    const contents = await contentsOf(key, () => pool.run(organisationId, () => repositories.contents(entry)))
    count(organisationId, bytesOf(contents), reply)
    return contents
  }

  async function blameFor(organisationId: number, entry: EntryDetails, reply: FastifyReply): Promise<Blame> {
    if (entry.repositoryId === null) return repositories.blame(entry)
    const key = JSON.stringify([entry.repositoryId, entry.commitSha, entry.path])
    const blame = await blameOf(key, () => blames.run(organisationId, () => repositories.blame(entry)))
    count(organisationId, bytesOfBlame(blame), reply)
    return blame
  }

  return {
    contents: contentsFor,
    blame: blameFor,
    async earliestText(prompt, at, reply) {
      const { organisationId } = prompt
      if (prompt.repositoryId === null) return null
      const found = await pool.run(organisationId, () => repositories.earliestText(prompt, at))
      count(organisationId, 2 * (found?.text?.length ?? 0), reply)
      return found
    },
  }
}

function isComplete({ beforeState, afterState, patch }: Contents): boolean {
  const states = [beforeState, afterState]
  return !states.includes('unavailable') && (patch !== null || states.includes('too_large'))
}

function bytesOf({ before, after, patch }: Contents): number {
  return 2 * ((before?.length ?? 0) + (after?.length ?? 0) + (patch?.length ?? 0))
}

const bytesPerBlamedLines = 150

function bytesOfBlame({ text, lines }: Blame): number {
  return 2 * (text?.length ?? 0) + bytesPerBlamedLines * lines.length
}

const maxBytes = 40 * 1024 * 1024
const maxBytesPerOrganisation = maxBytes / 2

/** Counts the texts of each response until the client has read it or disconnects. */
function createUnsentBytes() {
  const byOrganisation = new Map<number, number>()
  let total = 0
  const add = (organisationId: number, bytes: number) => {
    total += bytes
    const left = (byOrganisation.get(organisationId) ?? 0) + bytes
    if (left === 0) byOrganisation.delete(organisationId)
    else byOrganisation.set(organisationId, left)
  }
  return {
    isFull: (organisationId: number) =>
      total >= maxBytes || (byOrganisation.get(organisationId) ?? 0) >= maxBytesPerOrganisation,
    add(organisationId: number, bytes: number, { raw }: FastifyReply): void {
      if (bytes === 0 || raw.destroyed) return
      add(organisationId, bytes)
      let isCounted = true
      const subtract = () => {
        if (isCounted) add(organisationId, -bytes)
        isCounted = false
      }
      raw.once('finish', subtract).once('close', subtract)
    },
  }
}

const cacheBytes = 16 * 1024 * 1024
/** A larger result is not cached: it would replace all others. */
const largeBytes = cacheBytes / 2

/** Requests with the same key share one read, and complete results are cached. */
function createSharedReads<Value>(isComplete: (value: Value) => boolean, bytesOf: (value: Value) => number) {
  const cache = createCache(bytesOf)
  const reading = new Map<string, Promise<Value>>()

  async function readAndCache(key: string, read: () => Promise<Value>): Promise<Value> {
    const value = await read()
    if (isComplete(value)) cache.set(key, value)
    return value
  }

  return async (key: string, read: () => Promise<Value>): Promise<Value> => {
    const cached = cache.get(key)
    if (cached !== undefined) return cached
    const shared = reading.get(key) ?? readAndCache(key, read).finally(() => reading.delete(key))
    reading.set(key, shared)
    return shared
  }
}

/** Drops the least recently used results when they exceed 16 MiB. */
function createCache<Value>(bytesOf: (value: Value) => number) {
  const results = new Map<string, Value>()
  let bytes = 0
  return {
    get(key: string): Value | undefined {
      const value = results.get(key)
      if (value === undefined) return undefined
      results.delete(key)
      results.set(key, value)
      return value
    },
    set(key: string, value: Value): void {
      if (bytesOf(value) > largeBytes) return
      results.set(key, value)
      bytes += key.length + bytesOf(value)
      for (const [oldest, dropped] of results) {
        if (bytes <= cacheBytes) break
        results.delete(oldest)
        bytes -= oldest.length + bytesOf(dropped)
      }
    },
  }
}
