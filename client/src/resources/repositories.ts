import { dataOf } from '../data.ts'
import { type Pages, pages } from '../page.ts'
import type { RequestOptions, Transport } from '../request.ts'
import type { ConnectedRepository, Delivery, NewRepository, PageQuery, Repository, RotatedSecret } from '../types.ts'

export type Repositories = ReturnType<typeof repositories>

const minute = 60_000

/** For keys of role `admin`. */
export function repositories(service: Transport) {
  const pathOf = (repositoryId: number) => `/repositories/${repositoryId}`
  return {
    list(query?: PageQuery, options?: RequestOptions): Pages<Repository> {
      return pages(service, '/repositories', query, options)
    },

    get(repositoryId: number, options?: RequestOptions): Promise<Repository> {
      return dataOf(service, { method: 'GET', path: pathOf(repositoryId) }, options)
    },

    /** Follows a repository. The webhook's secret is shown this once. Reads from the forge: a minute's time, unless told. */
    connect(body: NewRepository, options?: RequestOptions): Promise<ConnectedRepository> {
      return dataOf(service, { method: 'POST', path: '/repositories', body, timeout: minute }, options)
    },

    /** It is no longer followed; prompts and history stay. */
    disconnect(repositoryId: number, options?: RequestOptions): Promise<void> {
      return service.json({ method: 'DELETE', path: pathOf(repositoryId) }, options)
    },

    /** It is looked at now; what is found shows up in `last_sync_at` and `last_error`. */
    sync(repositoryId: number, options?: RequestOptions): Promise<Repository> {
      return dataOf(service, { method: 'POST', path: `${pathOf(repositoryId)}/sync`, repeatable: true }, options)
    },

    /** A new secret for the webhook, shown this once. The old one counts for another day. */
    rotateSecret(repositoryId: number, options?: RequestOptions): Promise<RotatedSecret> {
      return dataOf(service, { method: 'POST', path: `${pathOf(repositoryId)}/rotate-secret` }, options)
    },

    /** The newest 1,000 that the forge sent. */
    deliveries(repositoryId: number, query?: PageQuery, options?: RequestOptions): Pages<Delivery> {
      return pages(service, `${pathOf(repositoryId)}/deliveries`, query, options)
    },

    /** It is worked on once more. */
    redeliver(repositoryId: number, deliveryId: number, options?: RequestOptions): Promise<Delivery> {
      const path = `${pathOf(repositoryId)}/deliveries/${deliveryId}/redeliver`
      return dataOf(service, { method: 'POST', path, repeatable: true }, options)
    },
  }
}
