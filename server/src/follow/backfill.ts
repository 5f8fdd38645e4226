import { setTimeout as pause } from 'node:timers/promises'
import { type Lease, LostLeaseError } from '../domain/repositories/lease.ts'
import { createNearMisses } from '../domain/repositories/near-misses.ts'
import type { Repository } from '../domain/repositories/repository.ts'
import type { BackfillOptions, ConnectedRepository } from '../domain/repositories/repository-service.ts'
import { createTurns, minute } from '../domain/time.ts'
import { listFiles } from '../git/contents.ts'
import { readHeader } from '../git/log.ts'
import { GitError } from '../git/run.ts'
import type { Connected } from './connect.ts'
import type { OnCommits } from './record-commits.ts'
import { mirrorOf, type SyncContext } from './sync-context.ts'
import { syncWithLease, type Worker } from './worker.ts'

/**
 * Runs the first sync of a connected repository, and returns what it found by the end of `waitMs`. Never rejects: the caller shows the
 * secret, which is stored and not shown again.
 */
export async function backfill(
  context: SyncContext,
  worker: Worker,
  { lease, secret, warnings }: Connected,
  options: BackfillOptions,
): Promise<ConnectedRepository> {
  const connected = { repository: lease.repository, secret, prompts: [], entryCount: 0, warnings }
  try {
    options.onConnected?.(lease.repository, secret)
    const backfillError = worker.isActive
      ? await backfillInWorker(context, worker, lease, options)
      : await backfillHere(context, lease, options)
    return { ...connected, ...(await readFindings(context, lease.repository.id, warnings)), backfillError }
  } catch (error) {
    return { ...connected, backfillError: error as Error }
  }
}

async function readFindings(context: SyncContext, id: number, warnings: string[]) {
  const { store } = context
  const repository = (await store.repositories.find(id)) as Repository
  const prompts = await store.facts.prompts(repository)
  return {
    repository,
    prompts,
    entryCount: await store.facts.countEntries(repository),
    warnings: [...warnings, ...(await emptyMatchWarnings(context, repository, prompts.length))],
  }
}

const firstSyncPollIntervalMs = 50
const otherProcessTimeoutMs = 10 * minute

/** Leaves the sync to the worker, where it takes a slot of its organisation, and waits for the outcome. */
async function backfillInWorker(
  { store, clock }: SyncContext,
  worker: Worker,
  lease: Lease,
  { waitMs = Number.POSITIVE_INFINITY }: BackfillOptions,
): Promise<Error | null> {
  const { repository } = lease
  await store.repositories.release(lease, { dueAt: clock(), error: null, syncedAt: null })
  worker.wake(repository)
  return waitForFirstSync(store, repository, waitMs)
}

/** Waits for the sync of another process. Null if it succeeded, or is still running. */
async function waitForFirstSync(
  { repositories }: Pick<SyncContext['store'], 'repositories'>,
  { id }: Repository,
  waitMs: number,
): Promise<Error | null> {
  const deadline = performance.now() + waitMs
  while (performance.now() < deadline) {
    const { lastSyncAt, lastError } = (await repositories.find(id)) as Repository
    if (lastError !== null) return new Error(lastError)
    if (lastSyncAt !== null) return null
    await pause(firstSyncPollIntervalMs)
  }
  return null
}

async function backfillHere(
  context: SyncContext,
  lease: Lease,
  { waitMs, onProgress }: BackfillOptions,
): Promise<Error | null> {
  const { repository } = lease
  const onCommits = onProgress && reportProgress(context, repository, onProgress)
  const finished = syncWithLease(context, lease, onCommits).then(
    () => null,
    (error: Error) => {
      // On a busy machine, the service may have found the lease expired, and runs the sync.
      if (error instanceof LostLeaseError) return waitForFirstSync(context.store, repository, otherProcessTimeoutMs)
      // Without a time limit, the caller sees the error in the result.
      if (waitMs !== undefined) {
        context.log.warn({ err: error, repository: repository.id }, 'could not sync a repository')
      }
      return error
    },
  )
  return waitMs === undefined ? finished : Promise.race([finished, pause(waitMs, null, { ref: false })])
}

/** Estimates how much of the history has been read from the dates of its commits. */
function reportProgress(
  context: SyncContext,
  repository: Repository,
  onProgress: NonNullable<BackfillOptions['onProgress']>,
): OnCommits {
  const { path } = mirrorOf(context, repository)
  let tipAt: number | null = null
  let startAt: number | null = null
  let reachedAt = 0
  return async ({ commits, committedAt, tip }) => {
    tipAt ??= (await readHeader(path, tip)).committedAt
    startAt ??= committedAt
    // Dates can be out of order.
    reachedAt = Math.max(reachedAt, committedAt)
    const share = tipAt <= startAt ? 1 : (reachedAt - startAt) / (tipAt - startAt)
    onProgress({ commits, reachedAt, share: Math.min(Math.max(share, 0), 1) })
  }
}

// A repository decides how many files it has, and how long their names are.
const maxExplainMs = 5_000

/** Warns if no prompt was found in a repository that has been read, with the nearest matches of its path. */
async function emptyMatchWarnings(
  context: SyncContext,
  repository: Repository,
  promptCount: number,
): Promise<string[]> {
  const { tip, path, lastSyncAt } = repository
  if (promptCount > 0 || tip === null || lastSyncAt === null) return []
  const nearMisses = createNearMisses(path)
  const takeTurns = createTurns()
  const deadline = performance.now() + maxExplainMs
  try {
    for await (const file of listFiles(mirrorOf(context, repository).path, tip)) {
      nearMisses.add(file)
      if (performance.now() > deadline) break
      await takeTurns()
    }
  } catch (error) {
    // The files read so far explain enough.
    if (!(error instanceof GitError)) throw error
  }
  return [nearMisses.explain()]
}
