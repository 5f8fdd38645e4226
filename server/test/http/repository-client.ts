import assert from 'node:assert/strict'
import type { LightMyRequestResponse } from 'fastify'
import { eventually } from '../../../testing/eventually.ts'
import { GitRepository } from '../../../testing/git-repository.ts'
import { deliveriesFrom } from '../../../testing/payloads/deliveries.ts'
import type { Delivery } from '../../../testing/payloads/facts.ts'
import type { Tenant, TestService } from '../../../testing/service.ts'
import type { Repository } from '../../src/domain/repositories/repository.ts'

export interface Connected {
  id: number
  webhook_url: string
  webhook_secret: string
  prompts: { id: string; path: string }[]
  entries: number
  warnings: string[]
}

export type Method = 'GET' | 'POST' | 'PATCH' | 'DELETE'

/** A repository with two prompts and three entries: one prompt changed once. */
export function createRemote(): GitRepository {
  const git = new GitRepository()
  git.commit('Start', { 'prompts/p.md': 'Be kind.\n', 'prompts/q.md': 'Be brief.\n', 'README.md': 'x\n' })
  git.commit('Be kinder', { 'prompts/p.md': 'Be very kind.\n' })
  git.push()
  return git
}

/** The repository routes of a service, and the webhooks that it returns. */
export function repositoryClient(service: TestService) {
  function request(
    tenant: Pick<Tenant, 'headers'>,
    method: Method,
    path: string,
    body?: object,
  ): Promise<LightMyRequestResponse> {
    return service.app.inject({
      method,
      url: `/api/v1/repositories${path}`,
      headers: tenant.headers,
      ...(body === undefined ? {} : { payload: body }),
    })
  }

  /** Waits for the first sync, which the response to connecting does not do on a slow machine. */
  async function synced(id: number): Promise<Repository> {
    const hasEnded = async () => {
      const repository = (await service.store.repositories.find(id)) as Repository
      return (repository.lastSyncAt ?? repository.lastError) !== null && repository
    }
    return (await eventually(hasEnded, { timeoutMs: 60_000 })) as Repository
  }

  return {
    request,
    synced,
    admin: () => service.tenant('free', 'admin'),

    /** Connects the repository, and waits for its backfill. */
    async connect(tenant: Tenant, git: GitRepository, more: object = {}): Promise<Connected> {
      const body = { forge: 'github', url: git.remote, path: 'prompts/**', ...more }
      const response = await request(tenant, 'POST', '', body)
      assert.equal(response.statusCode, 201, response.body)
      const connected: Connected = response.json().data
      const repository = await synced(connected.id)
      const prompts = (await service.store.facts.prompts(repository)).map(({ publicId, path }) => ({
        id: publicId,
        path: `${path}`,
      }))
      return { ...connected, prompts, entries: await service.store.facts.countEntries(repository) }
    },

    /** Sends a delivery as the forge would, and returns the status. */
    async deliver({ webhook_url }: Connected, { headers, body }: Delivery): Promise<number> {
      const url = new URL(webhook_url).pathname
      return (await service.app.inject({ method: 'POST', url, headers, payload: body })).statusCode
    },

    ping: ({ webhook_secret }: Pick<Connected, 'webhook_secret'>) => deliveriesFrom('github', webhook_secret).ping(),

    async historyOf(tenant: Tenant, { prompts }: Pick<Connected, 'prompts'>) {
      const pages = prompts.map(({ id }) =>
        service.app.inject({ url: `/api/v1/prompts/${id}/history`, headers: tenant.headers }),
      )
      return (await Promise.all(pages)).map((page) => page.json().data)
    },
  }
}
