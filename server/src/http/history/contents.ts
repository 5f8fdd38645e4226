import type { FastifyReply } from 'fastify'
import type { EntryDetails } from '../../domain/history/entry.ts'
import type { Prompt } from '../../domain/prompt.ts'
import type { Blame, Contents, EarliestText, RepositoryService } from '../../domain/repositories/repository-service.ts'
import type { Instant } from '../../domain/time.ts'
import { overloaded } from '../errors.ts'
import { createReadPool, limitsOfLongReads } from './read-pool.ts'
import { createSharedReads, largeBytes } from './shared-reads.ts'
import { createUnsentBytes } from './unsent-bytes.ts'

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
