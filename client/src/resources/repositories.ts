import { requestData } from '../data.ts'
import { createPages, type Pages } from '../page.ts'
import type { RequestOptions, Transport } from '../request.ts'
import type {
  ConnectedRepository,
  Delivery,
  NewRepository,
  PageQuery,
  Repository,
  RepositoryUpdate,
  RotatedSecret,
  SecretRotation,
  UpdatedRepository,
} from '../types.ts'

export type Repositories = ReturnType<typeof repositories>

// The service reads the repository from the forge before it responds.
const connectTimeoutMs = 60_000
// It also compares the history there with the known one.
const updateTimeoutMs = 180_000

/** Needs a key with the role `admin`. */
export function repositories(service: Transport) {
  const pathOf = (repositoryId: number) => `/repositories/${repositoryId}`
  return {
    list(query?: PageQuery, options?: RequestOptions): Pages<Repository> {
      return createPages(service, '/repositories', query, options)
    },

    get(repositoryId: number, options?: RequestOptions): Promise<Repository> {
      return requestData(service, { method: 'GET', path: pathOf(repositoryId) }, options)
    },

    /** Connects a repository. Only this response contains the webhook secret. The timeout defaults to 60,000 ms. */
    connect(body: NewRepository, options?: RequestOptions): Promise<ConnectedRepository> {
      return requestData(service, { method: 'POST', path: '/repositories', body, timeout: connectTimeoutMs }, options)
    },

    /** Changes the URL, the credentials or the production environments. Webhook, secret, prompts and history stay. The timeout defaults to 180,000 ms. */
    update(repositoryId: number, body: RepositoryUpdate, options?: RequestOptions): Promise<UpdatedRepository> {
      const path = pathOf(repositoryId)
      return requestData(service, { method: 'PATCH', path, body, timeout: updateTimeoutMs }, options)
    },

    /** Stops syncing a repository. Its prompts and their history stay. */
    disconnect(repositoryId: number, options?: RequestOptions): Promise<void> {
      return service.json({ method: 'DELETE', path: pathOf(repositoryId) }, options)
    },

    /** Starts a sync. Its result appears in `last_sync_at` and `last_error`. */
    sync(repositoryId: number, options?: RequestOptions): Promise<Repository> {
      return requestData(service, { method: 'POST', path: `${pathOf(repositoryId)}/sync`, isIdempotent: true }, options)
    },

    /** Creates a new webhook secret. Only this response contains it. The old one stays valid for `overlap_hours`. */
    rotateSecret(repositoryId: number, body: SecretRotation = {}, options?: RequestOptions): Promise<RotatedSecret> {
      return requestData(service, { method: 'POST', path: `${pathOf(repositoryId)}/rotate-secret`, body }, options)
    },

    /** Lists the newest 1,000 webhook deliveries. */
    deliveries(repositoryId: number, query?: PageQuery, options?: RequestOptions): Pages<Delivery> {
      return createPages(service, `${pathOf(repositoryId)}/deliveries`, query, options)
    },

    /** Processes a delivery again. */
    redeliver(repositoryId: number, deliveryId: number, options?: RequestOptions): Promise<Delivery> {
      const path = `${pathOf(repositoryId)}/deliveries/${deliveryId}/redeliver`
      return requestData(service, { method: 'POST', path, isIdempotent: true }, options)
    },
  }
}
