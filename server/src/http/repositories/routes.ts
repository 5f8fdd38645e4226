import type { FastifyInstance } from 'fastify'
import { pageOffset } from '../../domain/page.ts'
import { defaultSimilarity, type Repository } from '../../domain/repositories/repository.ts'
import { alreadyConnected, repositoryBusy } from '../../domain/repositories/repository-service.ts'
import { hour } from '../../domain/time.ts'
import type { Context } from '../context.ts'
import { errorBodySchema, errorSchema, unexpectedBodySchema } from '../error-schema.ts'
import { defaultOverlapHours, type OverlapBody, overlapSchema } from '../overlap-schema.ts'
import { renderPage, requestedPage } from '../page-body.ts'
import { pageQuerySchema } from '../page-schema.ts'
import { allowSilence } from '../silent-request.ts'
import { requestedDeployKey, toConnectedBody, toRepositoryBody, toRotatedSecretBody } from './body.ts'
import {
  type NewRepositoryBody,
  newRepositorySchema,
  type RepositoryUpdateBody,
  repositoryUpdateSchema,
} from './connection-schema.ts'
import { deliveryRoutes } from './delivery-routes.ts'
import { repositoryOf } from './repository-of.ts'
import {
  connectedSchema,
  oneRepositorySchema,
  type RepositoryBody,
  repositoryPageSchema,
  repositoryParamsSchema,
  rotatedSecretSchema,
  updatedRepositorySchema,
} from './schema.ts'

const config = { roles: ['admin'] } as const
const errors = { 401: errorBodySchema, 403: errorBodySchema, 500: errorBodySchema }
const errorsWithNotFound = { ...errors, 404: errorBodySchema }
const tags = ['Repositories']
const params = repositoryParamsSchema
const connectWaitMs = 5_000

/** The connected repositories of the organisation. */
export function repositoryRoutes(context: Context) {
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

  return async (app: FastifyInstance) => {
    app.get(
      '/repositories',
      {
        schema: {
          operationId: 'listRepositories',
          summary: 'List repositories',
          description: 'In the order in which they were connected.',
          tags,
          querystring: pageQuerySchema,
          response: { 200: repositoryPageSchema, ...errors },
        },
        config,
      },
      async (request, reply) => {
        const { organisationId } = request.access
        const all = await store.repositories.list(organisationId)
        const page = requestedPage(request.query)
        const offset = pageOffset(page)
        const bodies = await withCounts(all.slice(offset, offset + page.limit), organisationId)
        return reply.type('application/json; charset=utf-8').send(renderPage(bodies, page, all.length))
      },
    )

    app.post(
      '/repositories',
      {
        schema: {
          operationId: 'connectRepository',
          summary: 'Connect a repository',
          description:
            'Creates a prompt for each matching file and backfills its history. Waits up to 5 s for the backfill, which ' +
            'then continues in the background: see `state`. Responds with 422 if git cannot read the repository. A slow git ' +
            'server can delay the response by two minutes. It is safe to repeat the request: with the same key and body ' +
            'while the first one is running, both get the same response, and afterwards the repeated one gets 409.',
          tags,
          body: newRepositorySchema,
          response: {
            201: connectedSchema,
            ...errors,
            409: errorSchema('conflict', alreadyConnected().message),
            422: errorSchema('validation_error', 'forge is required'),
          },
        },
        config,
      },
      async (request, reply) => {
        const { forge, url, path, token = null, similarity = defaultSimilarity } = request.body as NewRepositoryBody
        const { organisationId } = request.access
        const deployKey = requestedDeployKey(request.body as NewRepositoryBody)
        const { production_environments: productionEnvironments = null, reports_on_pulls: reportsOnPulls = false } =
          request.body as NewRepositoryBody
        const access = { token, deployKey, secret: null }
        const settings = { productionEnvironments, reportsOnPulls }
        const connection = { organisationId, forge, url, path, similarity, ...settings, ...access }
        // git gives a slow server more time than a connection may be silent, and the secret is shown only in the response.
        allowSilence(request)
        const connected = await repositories.connect(connection, request.access, { waitMs: connectWaitMs })
        return reply.status(201).send({ data: toConnectedBody(connected, publicUrl(), clock()) })
      },
    )

    app.get(
      '/repositories/:repository_id',
      {
        schema: {
          operationId: 'getRepository',
          summary: 'Get a repository',
          tags,
          params,
          response: { 200: oneRepositorySchema, ...errorsWithNotFound },
        },
        config,
      },
      async (request) => bodyOf(await repositoryOf(store, request)),
    )

    app.patch(
      '/repositories/:repository_id',
      {
        schema: {
          operationId: 'updateRepository',
          summary: 'Change a repository',
          description:
            'Changes its URL, after it was renamed or moved, its credentials, which environments are production, or whether regressions are told on pull requests. Webhook, secret, prompts and history stay. ' +
            'Responds with 422 if git cannot read the repository, or if it has no commit in common with the known history.',
          tags,
          params,
          body: repositoryUpdateSchema,
          response: {
            200: updatedRepositorySchema,
            ...errorsWithNotFound,
            409: errorSchema('conflict', repositoryBusy().message),
            422: errorSchema('validation_error', 'token must be a string or null'),
          },
        },
        config,
        // Before the body is read: 404 comes before 422, as for prompts.
        onRequest: async (request) => {
          await repositoryOf(store, request)
        },
      },
      async (request) => {
        const { url, token, ssh_key: sshKey, ssh_host_key: sshHostKey } = request.body as RepositoryUpdateBody
        const { production_environments: productionEnvironments, reports_on_pulls: reportsOnPulls } =
          request.body as RepositoryUpdateBody
        const update = { url, token, sshKey, sshHostKey, productionEnvironments, reportsOnPulls }
        // Comparing the history at a new URL with the known one can take minutes.
        allowSilence(request)
        const { repository, warnings } = await repositories.update(
          await repositoryOf(store, request),
          update,
          request.access,
        )
        return { data: { ...(await bodyOf(repository)).data, warnings } }
      },
    )

    app.delete(
      '/repositories/:repository_id',
      {
        schema: {
          operationId: 'disconnectRepository',
          summary: 'Disconnect a repository',
          description: 'Stops syncing. Prompts and history stay.',
          tags,
          params,
          response: {
            204: { type: 'null', description: 'The repository is disconnected' },
            ...errorsWithNotFound,
            422: unexpectedBodySchema,
          },
        },
        config,
      },
      async (request, reply) => {
        await store.repositories.disconnect(await repositoryOf(store, request), clock(), request.access)
        return reply.status(204).send()
      },
    )

    app.post(
      '/repositories/:repository_id/sync',
      {
        schema: {
          operationId: 'syncRepository',
          summary: 'Sync a repository now',
          description: 'Requests a sync and responds before it is done.',
          tags,
          params,
          response: {
            202: oneRepositorySchema,
            ...errorsWithNotFound,
            409: errorBodySchema,
            422: unexpectedBodySchema,
          },
        },
        config,
      },
      async (request, reply) => {
        const repository = await repositories.sync(await repositoryOf(store, request))
        return reply.status(202).send(await bodyOf(repository))
      },
    )

    app.post(
      '/repositories/:repository_id/rotate-secret',
      {
        schema: {
          operationId: 'rotateRepositorySecret',
          summary: 'Rotate the webhook secret',
          description: 'The old secret stays valid during the overlap, 24 hours by default.',
          tags,
          params,
          body: overlapSchema('secret'),
          response: {
            200: rotatedSecretSchema,
            ...errorsWithNotFound,
            422: errorSchema('validation_error', 'overlap_hours must be >= 0'),
          },
        },
        config,
        // Before the body is read: 404 comes before 422, as for prompts.
        onRequest: async (request) => {
          await repositoryOf(store, request)
        },
      },
      async (request) => {
        const { overlap_hours: overlapHours = defaultOverlapHours } = (request.body ?? {}) as OverlapBody
        const repository = await repositoryOf(store, request)
        const rotated = await repositories.rotateSecret(repository, overlapHours * hour, request.access)
        return { data: toRotatedSecretBody(repository, rotated, publicUrl()) }
      },
    )

    await deliveryRoutes(context)(app)
  }
}
