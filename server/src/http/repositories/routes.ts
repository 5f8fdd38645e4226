import type { FastifyInstance, FastifyRequest } from 'fastify'
import { notFound } from '../../domain/errors.ts'
import { entriesBefore } from '../../domain/page.ts'
import { checkConnected, type Repository } from '../../domain/repositories/repository.ts'
import { isoTime } from '../../domain/time.ts'
import type { Context } from '../context.ts'
import { errorBodySchema, errorSchema, noBodySchema } from '../error-schema.ts'
import { askedPage, renderPage } from '../page-body.ts'
import { pageQuerySchema } from '../page-schema.ts'
import { pathId } from '../parameters.ts'
import { toDeliveryBody, toRepositoryBody, webhookUrl } from './body.ts'
import {
  connectedSchema,
  deliveryPageSchema,
  deliveryParamsSchema,
  type NewRepositoryBody,
  newRepositorySchema,
  oneDeliverySchema,
  oneRepositorySchema,
  type RepositoryBody,
  repositoryPageSchema,
  repositoryParamsSchema,
  rotatedSecretSchema,
} from './schema.ts'

const config = { roles: ['admin'] } as const
const errors = { 401: errorBodySchema, 403: errorBodySchema, 500: errorBodySchema }
const missing = { ...errors, 404: errorBodySchema }
const tags = ['Repositories']
const params = repositoryParamsSchema
const day = 24 * 3_600_000
const mostDeliveries = 1_000
const nothing = { prompts: 0, entries: 0 }

/** Repositories that the organisation follows. */
export function repositoryRoutes({ store, clock, repositories: following }: Context) {
  /** The repository that the path names, if it is the organisation's own. */
  async function named(request: FastifyRequest): Promise<Repository> {
    const { repository_id: id } = request.params as { repository_id: string }
    const repository = await store.repositories.find(pathId(id))
    if (repository === null || repository.organisationId !== request.access.organisationId) throw notFound()
    return repository
  }

  const bodyOf = (repository: Repository) => toRepositoryBody(repository, following.publicUrl())

  async function sizedBodiesOf(repositories: Repository[], organisationId: number): Promise<RepositoryBody[]> {
    const ids = repositories.map(({ id }) => id)
    const sizes = await store.facts.sizes(organisationId, ids)
    return repositories.map((repository) => {
      const { prompts, entries } = sizes.get(repository.id) ?? nothing
      return { ...bodyOf(repository), prompt_count: prompts, entry_count: entries }
    })
  }

  async function sizedBodyOf(repository: Repository): Promise<{ data: RepositoryBody }> {
    const [data] = await sizedBodiesOf([repository], repository.organisationId)
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
        const found = await store.repositories.list(organisationId)
        const asked = askedPage(request.query)
        const page = found.slice(entriesBefore(asked), entriesBefore(asked) + asked.limit)
        const bodies = await sizedBodiesOf(page, organisationId)
        return reply.type('application/json; charset=utf-8').send(renderPage(bodies, asked, found.length))
      },
    )

    app.post(
      '/repositories',
      {
        schema: {
          operationId: 'connectRepository',
          summary: 'Connect a repository',
          description:
            'Waits up to five seconds for the history; watch `state` for the rest. 422 where git cannot read the ' +
            'repository.',
          tags,
          body: newRepositorySchema,
          response: {
            201: connectedSchema,
            ...errors,
            409: errorSchema(
              'conflict',
              'This repository is connected already, with the same path. If its secret is lost, rotate it.',
            ),
            422: errorSchema('validation_error', 'forge must be given'),
          },
        },
        config,
      },
      async (request, reply) => {
        const { forge, url, path, token, similarity } = request.body as NewRepositoryBody
        const connection = {
          organisationId: request.access.organisationId,
          forge,
          url,
          path,
          token: token ?? null,
          similarity: similarity ?? 100,
          secret: null,
        }
        const connected = await following.connect(connection, request.access)
        const { repository, secret, setUp } = connected
        const prompts = await store.facts.prompts(repository)
        const entries = await store.facts.countEntries(repository)
        const data = {
          ...bodyOf(repository),
          webhook_secret: secret,
          set_up: setUp,
          prompts: prompts.map(({ publicId, path }) => ({ id: publicId, path })),
          entries,
        }
        return reply.status(201).send({ data })
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
          response: { 200: oneRepositorySchema, ...missing },
        },
        config,
      },
      async (request) => sizedBodyOf(await named(request)),
    )

    app.delete(
      '/repositories/:repository_id',
      {
        schema: {
          operationId: 'disconnectRepository',
          summary: 'Disconnect a repository',
          description: 'Prompts and history stay.',
          tags,
          params,
          response: { 204: { type: 'null', description: 'It is no longer followed' }, ...missing, 422: noBodySchema },
        },
        config,
      },
      async (request, reply) => {
        await store.repositories.disconnect(await named(request), clock(), request.access)
        return reply.status(204).send()
      },
    )

    app.post(
      '/repositories/:repository_id/sync',
      {
        schema: {
          operationId: 'syncRepository',
          summary: 'Look at a repository now',
          tags,
          params,
          response: { 202: oneRepositorySchema, ...missing, 409: errorBodySchema, 422: noBodySchema },
        },
        config,
      },
      async (request, reply) => {
        const repository = await named(request)
        await following.sync(repository)
        const asked = (await store.repositories.find(repository.id)) as Repository
        return reply.status(202).send(await sizedBodyOf(asked))
      },
    )

    app.post(
      '/repositories/:repository_id/rotate-secret',
      {
        schema: {
          operationId: 'rotateRepositorySecret',
          summary: 'Rotate the secret of the webhook',
          description: 'The old one counts for another day.',
          tags,
          params,
          response: { 200: rotatedSecretSchema, ...missing, 422: noBodySchema },
        },
        config,
      },
      async (request) => {
        const repository = await named(request)
        const until = clock() + day
        const secret = await following.rotateSecret(repository, day, request.access)
        const data = {
          webhook_url: webhookUrl(repository, following.publicUrl()),
          webhook_secret: secret,
          old_secret_until: isoTime(until),
        }
        return { data }
      },
    )

    app.get(
      '/repositories/:repository_id/deliveries',
      {
        schema: {
          operationId: 'listDeliveries',
          summary: 'List deliveries',
          description: 'The newest 1,000 that the forge sent.',
          tags,
          params,
          querystring: pageQuerySchema,
          response: { 200: deliveryPageSchema, ...missing },
        },
        config,
      },
      async (request, reply) => {
        const found = await store.deliveries.list(await named(request), mostDeliveries)
        const asked = askedPage(request.query)
        const page = found.slice(entriesBefore(asked), entriesBefore(asked) + asked.limit)
        return reply
          .type('application/json; charset=utf-8')
          .send(renderPage(page.map(toDeliveryBody), asked, found.length))
      },
    )

    app.post(
      '/repositories/:repository_id/deliveries/:delivery_id/redeliver',
      {
        schema: {
          operationId: 'redeliver',
          summary: 'Work on a delivery again',
          tags,
          params: deliveryParamsSchema,
          response: { 202: oneDeliverySchema, ...missing, 409: errorBodySchema, 422: noBodySchema },
        },
        config,
      },
      async (request, reply) => {
        const repository = await named(request)
        const { delivery_id: id } = request.params as { delivery_id: string }
        const delivery = await store.deliveries.find(pathId(id))
        if (delivery === null || delivery.repositoryId !== repository.id) throw notFound()
        checkConnected(repository)
        const again = await store.deliveries.redeliver(delivery, clock())
        following.wake(repository.id)
        return reply.status(202).send({ data: toDeliveryBody(again) })
      },
    )
  }
}
