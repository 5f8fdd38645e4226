import type { FastifyInstance, FastifyRequest } from 'fastify'
import { readerRoles } from '../../domain/access/api-key.ts'
import type { Deployment } from '../../domain/deployments/deployment.ts'
import { DomainError } from '../../domain/errors.ts'
import { timedChanges } from '../../domain/history/change.ts'
import { liveHistory } from '../../domain/impact/live-window.ts'
import type { Prompt } from '../../domain/prompt.ts'
import { checkConnected, type Repository } from '../../domain/repositories/repository.ts'
import type { Context } from '../context.ts'
import { errorBodySchema, errorSchema } from '../error-schema.ts'
import { renderPage, requestedPage } from '../page-body.ts'
import { pageQuerySchema } from '../page-schema.ts'
import { promptParamsSchema } from '../prompts/id-schema.ts'
import { repositoryOf } from '../repositories/repository-of.ts'
import { repositoryParamsSchema } from '../repositories/schema.ts'
import { parseDeployment, toDeploymentBody } from './body.ts'
import {
  deploymentPageSchema,
  type NewDeploymentBody,
  newDeploymentSchema,
  promptDeploymentPageSchema,
  recordedDeploymentSchema,
  recordedPromptDeploymentSchema,
} from './schema.ts'

const errors = { 401: errorBodySchema, 403: errorBodySchema, 404: errorBodySchema, 500: errorBodySchema }
const invalidBody = errorSchema('validation_error', 'environment is required')
const tags = ['Deployments']
// A CI system needs a key that can do nothing but record.
const recorders = ['recorder', 'admin'] as const

/** The deployments of repositories and prompts, which decide what is live. */
export function deploymentRoutes({ store, repositories, clock }: Context) {
  const repositoryOfPrompt = ({ repositoryId }: Prompt): Promise<Repository | null> =>
    repositoryId === null ? Promise.resolve(null) : store.repositories.find(repositoryId)

  /** Deployments of a repository concern all its prompts. */
  async function wholeRepositoryOf(request: FastifyRequest): Promise<Repository> {
    if (request.access.prompts !== null) throw limitedKey()
    return repositoryOf(store, request)
  }

  /** A sync has to find the commit before the deployment counts. */
  async function requestSync(repository: Repository | null, { commitState, production, state }: Deployment) {
    const decides = production && (state === 'success' || state === 'inactive')
    if (!decides || commitState !== 'pending' || repository === null || repository.disconnectedAt !== null) return
    await repositories.sync(repository)
  }

  async function withEntries(prompt: Prompt, deployments: Deployment[]) {
    const now = clock()
    const { versionIn } = liveHistory(timedChanges(await store.history.landedChanges(prompt), now), [])
    return deployments.map((deployment) => ({
      ...toDeploymentBody(deployment),
      entry_id: deployment.place === null ? null : (versionIn(deployment.place)?.id ?? null),
    }))
  }

  return async (app: FastifyInstance) => {
    app.post(
      '/repositories/:repository_id/deployments',
      {
        schema: {
          operationId: 'recordRepositoryDeployment',
          summary: 'Record a deployment of a repository',
          description:
            'For CI systems whose forge sends no deployment webhooks. It is of all prompts of the repository. A deployment ' +
            'with the same values is recorded once; without `at`, repeating the last one of the environment changes nothing.',
          tags,
          params: repositoryParamsSchema,
          body: newDeploymentSchema,
          response: { 201: recordedDeploymentSchema, ...errors, 409: errorBodySchema, 422: invalidBody },
        },
        config: { roles: recorders },
        // Before the body is read: 404 comes before 422, as for prompts.
        onRequest: async (request) => {
          await wholeRepositoryOf(request)
        },
      },
      async (request, reply) => {
        const repository = await wholeRepositoryOf(request)
        checkConnected(repository)
        const now = clock()
        const reported = parseDeployment(request.body as NewDeploymentBody, now)
        const { deployment } = await store.deployments.record({ repository }, reported, now, request.access)
        await requestSync(repository, deployment)
        return reply.status(201).send({ data: toDeploymentBody(deployment) })
      },
    )

    app.get(
      '/repositories/:repository_id/deployments',
      {
        schema: {
          operationId: 'listRepositoryDeployments',
          summary: 'List the deployments of a repository',
          description:
            'Newest first. The 10,000 newest that decide what is live are kept, and the 1,000 newest others.',
          tags,
          params: repositoryParamsSchema,
          querystring: pageQuerySchema,
          response: { 200: deploymentPageSchema, ...errors },
        },
        config: { roles: readerRoles },
      },
      async (request, reply) => {
        const repository = await wholeRepositoryOf(request)
        const page = requestedPage(request.query)
        const { deployments, totalCount } = await store.deployments.page({ repository }, page)
        const bodies = deployments.map(toDeploymentBody)
        return reply.type('application/json; charset=utf-8').send(renderPage(bodies, page, totalCount))
      },
    )

    app.post(
      '/prompts/:prompt_id/deployments',
      {
        schema: {
          operationId: 'recordPromptDeployment',
          summary: 'Record a deployment of a prompt',
          description:
            'For a prompt that is deployed on its own, or that is not in a connected repository: then the commit is that of ' +
            'a history entry. Recorded once, like a deployment of a repository.',
          tags,
          params: promptParamsSchema,
          body: newDeploymentSchema,
          response: { 201: recordedPromptDeploymentSchema, ...errors, 422: invalidBody },
        },
        config: { roles: recorders },
      },
      async (request, reply) => {
        const { prompt } = request
        const now = clock()
        const reported = parseDeployment(request.body as NewDeploymentBody, now)
        const repository = await repositoryOfPrompt(prompt)
        const { deployment } = await store.deployments.record({ prompt, repository }, reported, now, request.access)
        await requestSync(repository, deployment)
        const [data] = await withEntries(prompt, [deployment])
        return reply.status(201).send({ data })
      },
    )

    app.get(
      '/prompts/:prompt_id/deployments',
      {
        schema: {
          operationId: 'listPromptDeployments',
          summary: 'List the deployments of a prompt',
          description: 'Those of the prompt and of its repository, newest first.',
          tags,
          params: promptParamsSchema,
          querystring: pageQuerySchema,
          response: { 200: promptDeploymentPageSchema, ...errors },
        },
        config: { roles: readerRoles },
      },
      async (request, reply) => {
        const { prompt } = request
        const page = requestedPage(request.query)
        const repository = await repositoryOfPrompt(prompt)
        const { deployments, totalCount } = await store.deployments.page({ prompt, repository }, page)
        const bodies = await withEntries(prompt, deployments)
        return reply.type('application/json; charset=utf-8').send(renderPage(bodies, page, totalCount))
      },
    )
  }
}

function limitedKey(): DomainError {
  return new DomainError(
    'forbidden',
    'This key is limited to some prompts, and deployments of a repository concern all of them. Use the deployments of a prompt.',
  )
}
