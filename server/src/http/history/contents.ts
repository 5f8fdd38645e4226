import type { FastifyReply } from 'fastify'
import type { EntryDetails } from '../../domain/history/entry.ts'
import type { Prompt } from '../../domain/prompt.ts'
import type { Contents, EarliestText, RepositoryService } from '../../domain/repositories/repository-service.ts'
import type { Instant } from '../../domain/time.ts'
import { overloaded } from '../errors.ts'
import { createReadPool } from './read-pool.ts'

const cacheBytes = 16 * 1024 * 1024
const largeBytes = cacheBytes / 2
// Texts of responses that clients have not finished reading.
const maxUnsentBytes = 64 * 1024 * 1024
const maxUnsentBytesPerOrganisation = maxUnsentBytes / 2

/** Reads texts for a response. Rejects with `overloaded` if too many requests wait. */
export interface ContentsReader {
  contents(organisationId: number, entry: EntryDetails, reply: FastifyReply): Promise<Contents>
  earliestText(prompt: Prompt, at: Instant, reply: FastifyReply): Promise<EarliestText | null>
}

/**
 * Bounds what reading texts from git can cost: a few reads run at once, requests for the same texts share one, and recent
 * results are cached. Blobs never change, so neither does a complete result.
 */
export function createContentsReader(
  repositories: Pick<RepositoryService, 'contents' | 'earliestText'>,
): ContentsReader {
  const pool = createReadPool()
  const cache = createContentsCache()
  const reading = new Map<string, Promise<Contents>>()
  const unsent = createUnsentBytes()

  async function read(organisationId: number, key: string, entry: EntryDetails): Promise<Contents> {
    const contents = await pool.run(organisationId, () => repositories.contents(entry))
    if (isComplete(contents)) cache.set(key, contents)
    return contents
  }

  async function contentsFor(organisationId: number, entry: EntryDetails, reply: FastifyReply): Promise<Contents> {
    // Entries from other systems have no texts.
    if (entry.repositoryId === null) return repositories.contents(entry)
    if (unsent.isFull(organisationId)) throw overloaded
    const { repositoryId, beforeBlob, afterBlob, oldPath, path } = entry
    const key = JSON.stringify([repositoryId, beforeBlob, afterBlob, oldPath, path])
    let contents = cache.get(key)
    if (contents === undefined) {
      const shared = reading.get(key) ?? read(organisationId, key, entry).finally(() => reading.delete(key))
      reading.set(key, shared)
      contents = await shared
      // Large texts are read one after the other. Each has to fit beside those that clients have not finished reading.
      if (bytesOf(contents) > largeBytes && unsent.isFull(organisationId)) throw overloaded
    }
    unsent.add(organisationId, bytesOf(contents), reply)
    return contents
  }

  return {
    contents: contentsFor,
    async earliestText(prompt, at, reply) {
      const { organisationId } = prompt
      if (prompt.repositoryId === null) return null
      if (unsent.isFull(organisationId)) throw overloaded
      const found = await pool.run(organisationId, () => repositories.earliestText(prompt, at))
      unsent.add(organisationId, 2 * (found?.text?.length ?? 0), reply)
      return found
    },
  }
}

function isComplete({ beforeState, afterState, patch }: Contents): boolean {
  const states = [beforeState, afterState]
  return !states.includes('unavailable') && (patch !== null || states.includes('too_large'))
}

/** Drops the least recently used results when they exceed 16 MiB. */
function createContentsCache() {
  const results = new Map<string, Contents>()
  let bytes = 0
  return {
    get(key: string): Contents | undefined {
      const contents = results.get(key)
      if (contents === undefined) return undefined
      results.delete(key)
      results.set(key, contents)
      return contents
    },
    set(key: string, contents: Contents): void {
      // It would replace all others.
      if (bytesOf(contents) > largeBytes) return
      results.set(key, contents)
      bytes += key.length + bytesOf(contents)
      for (const [oldest, dropped] of results) {
        if (bytes <= cacheBytes) break
        results.delete(oldest)
        bytes -= oldest.length + bytesOf(dropped)
      }
    },
  }
}

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
      total >= maxUnsentBytes || (byOrganisation.get(organisationId) ?? 0) >= maxUnsentBytesPerOrganisation,
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

function bytesOf({ before, after, patch }: Contents): number {
  return 2 * ((before?.length ?? 0) + (after?.length ?? 0) + (patch?.length ?? 0))
}
