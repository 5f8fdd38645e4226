import type { FastifyInstance, FastifyRequest } from 'fastify'
import {
  type NewRepositoryBody,
  operations,
  type RepositoryBody,
  type RepositoryUpdateBody,
} from '../../../../contract/repositories.ts'
import { defaultSimilarity, type Repository } from '../../domain/repositories/repository.ts'
import { settingsFrom } from '../../domain/repositories/settings.ts'
import type { Store } from '../../domain/store.ts'
import { allowSilence } from '../admission/connection.ts'
import type { Context } from '../context.ts'
import { notFound } from '../errors.ts'
import { cutPage, requestedPage, sendPage } from '../page-body.ts'
import { idParameter, overlapMs } from '../parameters.ts'
import { beforeBody, route } from '../route.ts'
import { requestedDeployKey, toConnectedBody, toDeliveryBody, toRepositoryBody, toRotatedSecretBody } from './body.ts'

/** The repository in the path. One of another organisation is a 404, like an unknown id. */
export async function repositoryOf({ repositories }: Store, { params, access }: FastifyRequest): Promise<Repository> {
  const repository = await repositories.find(idParameter(params, 'repository_id'))
  if (repository === null || repository.organisationId !== access.organisationId) throw notFound()
  return repository
}

const connectWaitMs = 5_000

/** The connected repositories of the organisation. */
export function repositoryRoutes(app: FastifyInstance, context: Context): void {
  const { store, clock, repositories, publicUrl } = context

  async function withCounts(list: Repository[], organisationId: number): Promise<RepositoryBody[]> {
    const ids = list.map(({ id }) => id)
    const sizes = await store.facts.sizes(organisationId, ids)
    return list.map((repository) => {
      const { prompts = 0, entries = 0 } = sizes.get(repository.id) ?? {}
      return { ...toRepositoryBody(repository, publicUrl(), clock()), prompt_count: prompts, entry_count: entries }
    })
  }

  async function bodyOf(repository: Repository): Promise<{ data: RepositoryBody }> {
    const [data] = await withCounts([repository], repository.organisationId)
    return { data: data as RepositoryBody }
  }

  route(app, operations.listRepositories, async (request, reply) => {
    const { organisationId } = request.access
    const all = await store.repositories.list(organisationId)
    const page = requestedPage(request.query)
    return sendPage(reply, await withCounts(cutPage(all, page), organisationId), page, all.length)
  })

  route(app, operations.connectRepository, async (request, reply) => {
    const { forge, url, path, token = null, similarity = defaultSimilarity } = request.body as NewRepositoryBody
    const { organisationId } = request.access
    const deployKey = requestedDeployKey(request.body as NewRepositoryBody)
    const settings = settingsFrom(request.body as NewRepositoryBody)
    const access = { token, deployKey, secret: null }
    const connection = { organisationId, forge, url, path, similarity, ...settings, ...access }
    // git gives a slow server more time than a connection may be silent, and the secret is shown only in the response.
    allowSilence(request)
    const connected = await repositories.connect(connection, request.access, { waitMs: connectWaitMs })
    return reply.status(201).send({ data: toConnectedBody(connected, publicUrl(), clock()) })
  })

  route(app, operations.getRepository, async (request) => bodyOf(await repositoryOf(store, request)))

  route(
    app,
    operations.updateRepository,
    async (request) => {
      const { url, token, ssh_key: sshKey, ssh_host_key: sshHostKey } = request.body as RepositoryUpdateBody
      const update = { url, token, sshKey, sshHostKey, ...settingsFrom(request.body as RepositoryUpdateBody) }
      // Comparing the history at a new URL with the known one can take minutes.
      allowSilence(request)
      const { repository, warnings } = await repositories.update(
        await repositoryOf(store, request),
        update,
        request.access,
      )
      return { data: { ...(await bodyOf(repository)).data, warnings } }
    },
    beforeBody((request) => repositoryOf(store, request)),
  )

  route(app, operations.disconnectRepository, async (request, reply) => {
    await store.repositories.disconnect(await repositoryOf(store, request), clock(), request.access)
    return reply.status(204).send()
  })

  route(app, operations.syncRepository, async (request, reply) => {
    const repository = await repositories.sync(await repositoryOf(store, request))
    return reply.status(202).send(await bodyOf(repository))
  })

  route(
    app,
    operations.rotateRepositorySecret,
    async (request) => {
      const repository = await repositoryOf(store, request)
      const rotated = await repositories.rotateSecret(repository, overlapMs(request.body), request.access)
      return { data: toRotatedSecretBody(repository, rotated, publicUrl()) }
    },
    beforeBody((request) => repositoryOf(store, request)),
  )

  deliveryRoutes(app, context)
}

const maxDeliveries = 1_000

/** The webhook deliveries of a repository. */
function deliveryRoutes(app: FastifyInstance, { store, repositories }: Context): void {
  route(app, operations.listDeliveries, async (request, reply) => {
    const all = await store.deliveries.list(await repositoryOf(store, request), maxDeliveries)
    const page = requestedPage(request.query)
    return sendPage(reply, cutPage(all, page).map(toDeliveryBody), page, all.length)
  })

  route(app, operations.redeliver, async (request, reply) => {
    const repository = await repositoryOf(store, request)
    const delivery = await store.deliveries.find(idParameter(request.params, 'delivery_id'))
    if (delivery === null || delivery.repositoryId !== repository.id) throw notFound()
    return reply.status(202).send({ data: toDeliveryBody(await repositories.redeliver(delivery)) })
  })
}
