import type { FastifyInstance, FastifyRequest } from 'fastify'
import { type NewDeploymentBody, operations } from '../../../../contract/deployments.ts'
import type { Deployment } from '../../domain/deployments/deployment.ts'
import { DomainError } from '../../domain/errors.ts'
import { timedChanges } from '../../domain/history/change.ts'
import { liveHistory } from '../../domain/impact/live/live-window.ts'
import type { Prompt } from '../../domain/prompt.ts'
import { checkConnected, type Repository } from '../../domain/repositories/repository.ts'
import type { Context } from '../context.ts'
import { requestedPage, sendPage } from '../page-body.ts'
import { repositoryOf } from '../repositories/routes.ts'
import { beforeBody, route } from '../route.ts'
import { parseDeployment, toDeploymentBody } from './body.ts'

/** The deployments of repositories and prompts, which decide what is live. */
export function deploymentRoutes(app: FastifyInstance, { store, repositories, clock }: Context): void {
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

  route(
    app,
    operations.recordRepositoryDeployment,
    async (request, reply) => {
      const repository = await wholeRepositoryOf(request)
      checkConnected(repository)
      const now = clock()
      const reported = parseDeployment(request.body as NewDeploymentBody, now)
      const { deployment } = await store.deployments.record({ repository }, reported, now, request.access)
      await requestSync(repository, deployment)
      return reply.status(201).send({ data: toDeploymentBody(deployment) })
    },
    beforeBody(wholeRepositoryOf),
  )

  route(app, operations.listRepositoryDeployments, async (request, reply) => {
    const repository = await wholeRepositoryOf(request)
    const page = requestedPage(request.query)
    const { deployments, totalCount } = await store.deployments.page({ repository }, page)
    return sendPage(reply, deployments.map(toDeploymentBody), page, totalCount)
  })

  route(app, operations.recordPromptDeployment, async (request, reply) => {
    const { prompt } = request
    const now = clock()
    const reported = parseDeployment(request.body as NewDeploymentBody, now)
    const repository = await repositoryOfPrompt(prompt)
    const { deployment } = await store.deployments.record({ prompt, repository }, reported, now, request.access)
    await requestSync(repository, deployment)
    const [data] = await withEntries(prompt, [deployment])
    return reply.status(201).send({ data })
  })

  route(app, operations.listPromptDeployments, async (request, reply) => {
    const { prompt } = request
    const page = requestedPage(request.query)
    const repository = await repositoryOfPrompt(prompt)
    const { deployments, totalCount } = await store.deployments.page({ prompt, repository }, page)
    return sendPage(reply, await withEntries(prompt, deployments), page, totalCount)
  })
}

function limitedKey(): DomainError {
  return new DomainError(
    'forbidden',
    'This key is limited to some prompts, and deployments of a repository concern all of them. Use the deployments of a prompt.',
  )
}
