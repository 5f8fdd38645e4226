import { type Headers, invalidSignature } from '../domain/repositories/delivery.ts'
import type { Rejections, Repository } from '../domain/repositories/repository.ts'
import { forgeOf } from '../forges/index.ts'
import type { SyncContext } from './sync-context.ts'

/** Records webhook requests with a missing or wrong signature, so that a wrong secret is noticed. */
interface RejectedDeliveries {
  /** Records the request. Returns the error to respond with. */
  reject(repository: Repository, headers: Headers): Error
  /** Stores what has been counted since. */
  flush(): Promise<void>
}

const reportIntervalMs = 60_000

interface Pending extends Rejections {
  repository: Pick<Repository, 'id' | 'organisationId'>
}

/**
 * Anyone who knows a webhook URL can send requests to it. Each webhook therefore costs at most one write and one line of the log
 * per minute. The first request is stored at once, and those of the next minute are counted in memory.
 */
export function createRejectedDeliveries({ store, clock, log }: SyncContext): RejectedDeliveries {
  const pending = new Map<number, Pending>()
  const reportedAt = new Map<number, number>()
  let timer: NodeJS.Timeout | null = null

  async function report(rejected: Pending): Promise<void> {
    const { repository, count, lastAt, reason } = rejected
    pending.delete(repository.id)
    reportedAt.set(repository.id, performance.now())
    log.warn(
      { repository: repository.id, organisation: repository.organisationId, count, reason },
      'rejected deliveries',
    )
    try {
      await store.repositories.recordRejections(repository, { count, lastAt, reason })
    } catch (error) {
      add(rejected)
      schedule()
      log.warn({ err: error, repository: repository.id }, 'could not store rejected deliveries')
    }
  }

  function add({ repository, count, lastAt, reason }: Pending): void {
    const known = pending.get(repository.id)
    const newest = known !== undefined && known.lastAt > lastAt ? known : { lastAt, reason }
    pending.set(repository.id, {
      repository,
      count: count + (known?.count ?? 0),
      lastAt: newest.lastAt,
      reason: newest.reason,
    })
  }

  function isDue(id: number): boolean {
    const last = reportedAt.get(id)
    return last === undefined || performance.now() - last >= reportIntervalMs
  }

  async function reportDue(): Promise<void> {
    timer = null
    await Promise.all([...pending.values()].filter(({ repository }) => isDue(repository.id)).map(report))
    for (const id of reportedAt.keys()) if (isDue(id) && !pending.has(id)) reportedAt.delete(id)
    if (pending.size > 0) schedule()
  }

  function schedule(): void {
    timer ??= setTimeout(reportDue, reportIntervalMs).unref()
  }

  return {
    reject({ id, organisationId, forge }, headers) {
      const reason = rejectionReason(forgeOf(forge).signatureHeaders, headers)
      add({ repository: { id, organisationId }, count: 1, lastAt: clock(), reason })
      if (isDue(id)) void report(pending.get(id) as Pending)
      else schedule()
      return invalidSignature()
    },
    async flush() {
      if (timer !== null) clearTimeout(timer)
      timer = null
      await Promise.all([...pending.values()].map(report))
    },
  }
}

function rejectionReason(signatureHeaders: string[], headers: Headers): string {
  // Gitea sends empty ones if its webhook has no secret.
  const isSigned = signatureHeaders.some(
    (name) => headers[name] !== undefined && !/^(sha256=)?$/.test(String(headers[name])),
  )
  return isSigned
    ? 'the signature is wrong: the webhook has another secret'
    : 'the signature is missing: the webhook has no secret'
}
