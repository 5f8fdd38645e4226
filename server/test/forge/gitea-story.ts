import assert from 'node:assert/strict'
import { eventually } from '../../../testing/eventually.ts'
import { bob, GitRepository } from '../../../testing/git-repository.ts'
import { type Gitea, owner } from '../../../testing/gitea.ts'
import type { Delivery } from '../../../testing/payloads/facts.ts'
import { type ReceivedRequest, startReceiver } from '../../../testing/receiver.ts'
import { type Entry, Scenario } from '../../../testing/scenario.ts'
import type { TestService } from '../../../testing/service.ts'
import { operator } from '../../src/domain/access/audit.ts'
import type { Repository } from '../../src/domain/repositories/repository.ts'
import type { SettingsUpdate } from '../../src/domain/repositories/settings.ts'

const secret = '0123456789abcdef0123456789abcdef'
const settings = {
  autodetect_manual_merge: true,
  has_pull_requests: true,
  allow_merge_commits: true,
  allow_squash_merge: true,
  allow_rebase: true,
  allow_rebase_explicit: true,
  allow_manual_merge: true,
}

export type MergeStyle = 'merge' | 'squash' | 'rebase' | 'rebase-merge'

interface Payload {
  action?: string
  number?: number
  after?: string
  pull_request?: { merged: boolean; head: { sha: string } }
}

/** A repository on a real Gitea, its checkout, and all that Gitea has delivered about it. */
export class GiteaStory {
  readonly gitea: Gitea
  readonly service: TestService
  readonly git = new GitRepository()
  readonly path: string
  #received: ReceivedRequest[] = []
  #delivered = 0

  constructor(gitea: Gitea, service: TestService, name: string) {
    this.gitea = gitea
    this.service = service
    this.path = `${owner}/${name}`
  }

  async start(): Promise<this> {
    const receiver = await startReceiver()
    this.#received = receiver.received
    const [, name] = this.path.split('/')
    await this.gitea.api('POST', '/user/repos', { name, private: true, default_branch: 'main' })
    await this.gitea.api('PATCH', `/repos/${this.path}`, settings)
    this.git.git('remote', 'set-url', 'origin', this.gitea.pushUrl(this.path))
    this.git.commit('Start', { 'prompts/p.md': 'Be kind.\n', 'prompts/q.md': 'Be brief.\n' })
    this.git.git('push', '--quiet', 'origin', 'HEAD')
    // Before the webhook exists, so that only what follows is delivered.
    await this.gitea.api('POST', `/repos/${this.path}/hooks`, {
      type: 'gitea',
      active: true,
      config: { url: receiver.url, content_type: 'json', secret },
      events: ['push', 'pull_request', 'pull_request_sync'],
    })
    return this
  }

  /** Connects the repository to a new organisation, and reads what git has. */
  async connect(settings: Pick<SettingsUpdate, 'reportsOnPulls' | 'opensIssues'> = {}): Promise<Scenario> {
    const tenant = await this.service.tenant('free', 'admin')
    const { repository, backfillError } = await this.service.repositories.connect(
      {
        organisationId: tenant.organisation.id,
        forge: 'gitea',
        url: `${this.gitea.url}/${this.path}.git`,
        path: 'prompts/**',
        similarity: 50,
        token: this.gitea.token,
        secret,
        ...settings,
      },
      operator,
      {},
    )
    assert.equal(backfillError, null)
    return new Scenario(this.service, tenant, this.git, 'gitea', repository as Repository, secret)
  }

  /** All deliveries so far, in the order in which they arrived. */
  get deliveries(): Delivery[] {
    return this.#received.map(({ headers, body }) => ({
      headers: Object.fromEntries(
        Object.entries(headers).filter(([name]) => name.startsWith('x-') || name === 'content-type'),
      ) as Record<string, string>,
      body: Buffer.from(body),
    }))
  }

  /** Those that arrived since the last call. */
  takeDeliveries(): Delivery[] {
    const taken = this.deliveries.slice(this.#delivered)
    this.#delivered += taken.length
    return taken
  }

  /** Pushes the branch, and waits for the delivery. */
  async push(branch = this.git.git('rev-parse', '--abbrev-ref', 'HEAD')): Promise<string> {
    const sha = this.git.head(branch)
    this.git.git('push', '--quiet', '--force', 'origin', `${branch}:${branch}`)
    await this.#arrives((payload) => payload.after === sha)
    return sha
  }

  /** Opens a pull request with a commit of Bob's for each of the changes. Returns its number. */
  async open(branch: string, base: string, ...changes: Record<string, string>[]): Promise<number> {
    this.git.switchTo(branch, base)
    for (const [i, files] of changes.entries()) this.git.commit(`${branch} ${i + 1}`, files, { author: bob })
    await this.push(branch)
    return this.openFrom(branch, base)
  }

  async openFrom(head: string, base: string, token?: string): Promise<number> {
    const fields = { head, base, title: `Improve ${head}` }
    const { number } = await this.gitea.api<{ number: number }>('POST', `/repos/${this.path}/pulls`, fields, token)
    await this.#arrives((payload) => payload.number === number && payload.action === 'opened')
    return number
  }

  /** Pushes more to the branch of an open pull request, and waits until Gitea has noticed. */
  async update(number: number, branch: string): Promise<void> {
    const sha = await this.push(branch)
    await this.#arrives((payload) => payload.number === number && payload.pull_request?.head.sha === sha)
  }

  /** Merges it as the button does, and returns the newest commit of the default branch. */
  async merge(number: number, style: MergeStyle, branch = 'main'): Promise<string> {
    const path = `/repos/${this.path}/pulls/${number}`
    const { title, head } = await this.gitea.api<{ title: string; head: { ref: string } }>('GET', path)
    // As in the web interface, where versions before 1.17 have a default for each style. Their API has it for some of them only.
    const ofMerge = `Merge pull request '${title}' (#${number}) from ${head.ref} into ${branch}`
    const fields = { Do: style, ...(style === 'rebase-merge' && { MergeTitleField: ofMerge }) }
    // Until Gitea has checked for conflicts, it refuses to merge.
    await eventually(() => this.gitea.api('POST', `${path}/merge`, fields))
    await this.isMerged(number)
    this.git.git('fetch', '--quiet', 'origin', branch)
    const sha = this.git.head('FETCH_HEAD')
    await this.#arrives((payload) => payload.after === sha)
    this.git.switchTo(branch, 'FETCH_HEAD')
    return sha
  }

  /** Waits until Gitea reports that it was merged, by whatever means. */
  async isMerged(number: number): Promise<void> {
    await this.#arrives((payload) => payload.number === number && payload.pull_request?.merged === true)
  }

  async setState(number: number, state: 'closed' | 'open'): Promise<void> {
    const [action, count] = state === 'closed' ? ['closed', this.#count(number, 'closed')] : ['reopened', 0]
    await this.gitea.api('PATCH', `/repos/${this.path}/pulls/${number}`, { state })
    await eventually(() => this.#count(number, action) > count)
  }

  #count(number: number, action: string): number {
    return this.#payloads().filter((payload) => payload.number === number && payload.action === action).length
  }

  #payloads(): Payload[] {
    return this.#received.map(({ body }) => JSON.parse(body))
  }

  async #arrives(matches: (payload: Payload) => boolean): Promise<void> {
    await eventually(() => assert.ok(this.#payloads().some(matches), 'Gitea did not deliver it'))
  }
}

/**
 * What landed on the default branch. Git has neither when a pull request was opened or closed, nor the exact time at which it was
 * merged.
 */
export async function landingsOf(scenario: Scenario): Promise<unknown> {
  const isLanding = ({ action }: Omit<Entry, 'id'>) => action === 'deployed' || action === 'pr_merged'
  const withoutMergeTime = ({ created_at, ...entry }: Omit<Entry, 'id'>) =>
    entry.action === 'deployed' ? { ...entry, created_at } : entry
  const entries = Object.entries(await entriesOf(scenario))
  return entries.map(([path, ofPath]) => [path, ofPath.filter(isLanding).map(withoutMergeTime)])
}

/** All entries of all prompts, without the IDs, which depend on the order in which they were learned. */
export async function entriesOf(scenario: Scenario): Promise<Record<string, Omit<Entry, 'id'>[]>> {
  const entries: Record<string, Omit<Entry, 'id'>[]> = {}
  for (const path of await scenario.paths()) {
    if (path === null) continue
    entries[path] = (await scenario.history(path)).map(({ id: _, ...entry }) => entry)
  }
  return entries
}
