import assert from 'node:assert/strict'
import { operator } from '../server/src/domain/access/audit.ts'
import type { ForgeName, Repository } from '../server/src/domain/repositories/repository.ts'
import { connectRepository } from '../server/src/follow/connect.ts'
import { syncOnce, syncWithLease } from '../server/src/follow/worker.ts'
import { GitRepository } from './git-repository.ts'
import { deliveriesFrom, type ForgeDeliveries } from './payloads/deliveries.ts'
import type { Delivery } from './payloads/facts.ts'
import type { Tenant, TestService } from './service.ts'

export interface Entry {
  id: number
  action: string
  user: { name: string; email: string }
  commit_sha: string
  pr_number: number | null
  pr_url: string | null
  branch_name: string
  created_at: string
}

/** A connected repository, with a forge that the test plays. */
export class Scenario {
  readonly service: TestService
  readonly tenant: Tenant
  readonly git: GitRepository
  readonly forge: ForgeDeliveries
  readonly forgeName: ForgeName
  readonly secret: string
  repository: Repository

  constructor(
    service: TestService,
    tenant: Tenant,
    git: GitRepository,
    forgeName: ForgeName,
    repository: Repository,
    secret: string,
  ) {
    this.service = service
    this.tenant = tenant
    this.git = git
    this.forgeName = forgeName
    this.repository = repository
    this.secret = secret
    this.forge = deliveriesFrom(forgeName, secret)
  }

  /** Sends a delivery as the forge would, and returns the status. */
  async send(delivery: Delivery): Promise<number> {
    const response = await this.service.app.inject({
      method: 'POST',
      url: `/webhooks/${this.repository.hookId}`,
      headers: { 'content-type': 'application/json', ...delivery.headers },
      payload: delivery.body,
    })
    return response.statusCode
  }

  /** Sends deliveries, each accepted, and processes them. */
  async deliver(...sent: Delivery[]): Promise<void> {
    for (const delivery of sent) assert.equal(await this.send(delivery), 202)
    await this.sync()
  }

  /** Syncs the repository once, as the worker does. */
  async sync(): Promise<void> {
    await syncOnce(this.service.syncContext, this.repository.id)
    this.repository = (await this.service.store.repositories.find(this.repository.id)) as Repository
  }

  /** Advances the clock and syncs what has become due. */
  async advance(seconds: number): Promise<void> {
    this.service.now += seconds * 1_000
    await this.sync()
  }

  /** Pushes the branch and delivers the forge's webhook. */
  async push(branch = 'main', facts: { pusher?: string } = {}): Promise<void> {
    const before = this.git.remoteHead(branch)
    this.git.push(`${branch}:${branch}`)
    await this.deliver(this.pushDelivery(branch, before, facts))
  }

  /** The delivery for a push of the branch as it is now. */
  pushDelivery(branch: string, before: string | null, facts: { pusher?: string } = {}): Delivery {
    return this.forge.push({
      branch,
      before,
      after: this.git.head(branch),
      commits: this.git.commitsAfter(before, branch).map((sha) => ({ sha })),
      ...facts,
    })
  }

  /** The public ID of the prompt whose file is at the path. */
  async promptId(path: string): Promise<string> {
    const prompts = await this.service.store.facts.prompts(this.repository)
    const found = prompts.find((prompt) => prompt.path === path)
    assert.ok(found, `no prompt at ${path}`)
    return found.publicId
  }

  async paths(): Promise<(string | null)[]> {
    return (await this.service.store.facts.prompts(this.repository)).map(({ path }) => path)
  }

  /** The history of the prompt at the path as the API returns it, but oldest first. */
  async history(path = 'prompts/p.md'): Promise<Entry[]> {
    return this.historyOf(await this.promptId(path))
  }

  async historyOf(promptId: string): Promise<Entry[]> {
    const { data } = await this.get(`/prompts/${promptId}/history?limit=100`)
    return (data as Entry[]).reverse()
  }

  async get(path: string): Promise<{ data: unknown }> {
    const response = await this.service.app.inject({ url: `/api/v1${path}`, headers: this.tenant.headers })
    assert.equal(response.statusCode, 200, response.body)
    return response.json()
  }

  /** Each entry in short: `deployed 1a2b3c4` or `pr_merged 1a2b3c4 #7`. */
  async summary(path = 'prompts/p.md'): Promise<string[]> {
    return (await this.history(path)).map(({ action, commit_sha, pr_number }) =>
      [action, commit_sha.slice(0, 7), ...(pr_number === null ? [] : [`#${pr_number}`])].join(' '),
    )
  }

  /** The deliveries that wait for another attempt or have failed, with the reason. */
  async unfinishedDeliveries(): Promise<string[]> {
    const found = await this.service.store.deliveries.list(this.repository, 100)
    const isFinished = new Set(['done', 'ignored'])
    return found
      .filter(({ state }) => !isFinished.has(state))
      .map(({ event, state, error }) => `${event} ${state}: ${error}`)
  }

  async deliveryStates(): Promise<string[]> {
    const found = await this.service.store.deliveries.list(this.repository, 100)
    return found.map(({ state }) => state)
  }
}

export interface ScenarioOptions {
  forge?: ForgeName
  pattern?: string
  similarity?: number
  /** Fills the repository before it is connected; by default one commit with prompts/p.md and prompts/q.md. */
  prepare?: (git: GitRepository) => void
  gitOptions?: { branch?: string; format?: string }
}

/** Connects a new repository to a new organisation and syncs it. */
export async function connectedScenario(service: TestService, options: ScenarioOptions = {}): Promise<Scenario> {
  const { forge = 'github', pattern = 'prompts/**', similarity = 100, prepare = twoPrompts } = options
  const git = new GitRepository(options.gitOptions)
  prepare(git)
  const tenant = await service.tenant('free', 'admin')
  const { lease, secret } = await connectRepository(
    service.syncContext,
    {
      organisationId: tenant.organisation.id,
      forge,
      url: git.remote,
      path: pattern,
      similarity,
      token: null,
      secret: null,
    },
    operator,
  )
  await syncWithLease(service.syncContext, lease)
  const repository = (await service.store.repositories.find(lease.repository.id)) as Repository
  return new Scenario(service, tenant, git, forge, repository, secret)
}

function twoPrompts(git: GitRepository): void {
  git.commit('Start', { 'prompts/p.md': 'Be kind.\n', 'prompts/q.md': 'Be brief.\n', 'README.md': 'x\n' })
  git.push()
}

/** The 7 digits that `summary` shows. */
export function shortSha(commit: string): string {
  return commit.slice(0, 7)
}
