import assert from 'node:assert/strict'
import { before, test } from 'node:test'
import pino from 'pino'
import { onOneEngine } from '../../../testing/engines.ts'
import { ForgeApiServer } from '../../../testing/forge-api.ts'
import { bob, GitRepository, web } from '../../../testing/git-repository.ts'
import { postVotes } from '../../../testing/judged-votes.ts'
import { type Tenant, useService } from '../../../testing/service.ts'
import { createReportOnPull } from '../../src/alerts/pull-comment.ts'
import { operator } from '../../src/domain/access/audit.ts'
import type { Repository } from '../../src/domain/repositories/repository.ts'
import { day, hour, minute } from '../../src/domain/time.ts'
import { syncOnce } from '../../src/follow/worker.ts'
import { createNotifier } from '../../src/service/notifier.ts'
import { createSender } from '../../src/service/sender.ts'

interface Stage {
  forge: ForgeApiServer
  git: GitRepository
  tenant: Tenant
  repository: Repository
  /** The commit that made both prompts worse. */
  bad: string
  /** When it was merged. */
  mergedAt: number
}

const page = { page: '1', limit: 10 }
const texts = { 'prompts/p.md': 'Be kind.\n', 'prompts/q.md': 'Be brief.\n' }
const worse = { 'prompts/p.md': 'Be rude.\n', 'prompts/q.md': 'Say nothing.\n' }

onOneEngine('Regressions on their pull request', (engine) => {
  const service = useService(engine)
  before(() => {
    service.planLimits.free = null
    Object.assign(service.syncContext, { allowHttp: true })
  })
  const log = pino({ level: 'silent' })
  const clock = () => service.now

  /** The notifier and the sender of one process, as the service runs them. */
  function openNotifier() {
    const { store, planLimits } = service
    const { vault } = service.syncContext
    const addresses = { allowPrivateAddresses: false, allowHttp: false }
    const reporting = { store, vault, clock, publicUrl: () => 'https://ledger.example', log, ...addresses }
    const reportOnPull = createReportOnPull(reporting)
    const send = () => assert.fail('there is no alert')
    const context = { store, vault, send, reportOnPull, planLimits, clock, log }
    const [notifier, sender] = [createNotifier(context), createSender(context)]
    return async () => {
      await notifier.round()
      await sender.round()
      await sender.idle()
    }
  }

  /** Merges a change of both prompts, as pull request 7 or directly, after which users like them less. */
  async function stage({ hasPull = true } = {}): Promise<Stage> {
    const forge = await new ForgeApiServer('github').start()
    const git = new GitRepository()
    const startedAt = service.now - 20 * day
    const mergedAt = service.now - 8 * day
    git.commit('Start', texts, { at: new Date(startedAt).toISOString() })
    const at = new Date(mergedAt).toISOString()
    if (hasPull) {
      git.switchTo('shorter', 'main')
      git.commit('Shorten', worse, { author: bob, at })
      git.switchTo('main')
      git.merge('shorter', 'Merge pull request #7 from bob/shorter', { committer: web, at })
      git.push('main', 'shorter:refs/pull/7/head')
    } else {
      git.commit('Shorten', worse, { author: bob, at })
      git.push()
    }
    const bad = git.head()
    Object.assign(forge, { folder: git.remote })
    forge.commits.add(bad)
    const tenant = await service.tenant('free', 'admin')
    const { repository } = await service.repositories.connect(
      {
        organisationId: tenant.organisation.id,
        forge: 'github',
        url: forge.cloneUrl,
        path: 'prompts/**',
        similarity: 50,
        token: forge.token,
        secret: null,
        reportsOnPulls: true,
      },
      operator,
      {},
    )
    for (const { publicId: prompt } of await service.store.facts.prompts(repository)) {
      await postVotes(tenant, { from: startedAt + 1, until: mergedAt, count: 4_000, rate: 0.85, prompt })
      await postVotes(tenant, { from: mergedAt + 1, until: service.now, count: 1_200, rate: 0.6, prompt })
    }
    await service.judge.round()
    return { forge, git, tenant, repository, bad, mergedAt }
  }

  const regressions = async ({ headers }: Tenant) =>
    (await service.app.inject({ url: '/api/v1/regressions', headers })).json().data
  const reportError = async ({ headers }: Tenant, { id }: Repository) =>
    (await service.app.inject({ url: `/api/v1/repositories/${id}`, headers })).json().data.report_error
  const rowOf = (text: string, name: string) => text.split('\n').find((line) => line.startsWith(`| [\`${name}\``)) ?? ''

  test('a regression that holds is told once for all prompts, and its comment follows what becomes of each', async () => {
    const { forge, git, tenant, repository, bad } = await stage()
    const tell = openNotifier()
    assert.equal((await regressions(tenant)).length, 2)
    await tell()
    assert.equal(forge.comments.length, 0, 'told before it held')
    service.now += 15 * minute
    await tell()
    assert.equal(forge.comments.length, 1)
    const [comment] = forge.comments
    assert.equal(comment?.pull, 7)
    assert.match(comment?.text ?? '', /users rate 2 prompts worse since this change/)
    assert.deepEqual([forge.statuses.at(-1)?.sha, forge.statuses.at(-1)?.state], [bad, 'failure'])
    const requests = forge.requests.length
    await tell()
    assert.equal(forge.requests.length, requests, 'told again although nothing changed')

    const [dismissed] = (await regressions(tenant)).filter(
      ({ prompt }: { prompt: { name: string } }) => prompt.name === 'prompts/p.md',
    )
    const response = await service.app.inject({
      method: 'POST',
      url: `/api/v1/prompts/${dismissed.prompt.id}/regressions/${dismissed.id}/dismiss`,
      headers: tenant.headers,
      payload: { note: 'On purpose' },
    })
    assert.equal(response.statusCode, 200, response.body)
    await tell()
    assert.match(rowOf(comment?.text ?? '', 'prompts/p.md'), /\| dismissed \|$/)
    assert.match(rowOf(comment?.text ?? '', 'prompts/q.md'), /\| \*\*worse\*\* \|$/)
    assert.equal(forge.statuses.at(-1)?.state, 'failure')

    service.now += hour
    git.commit('Revert', { 'prompts/q.md': texts['prompts/q.md'] }, { at: new Date(service.now).toISOString() })
    git.push()
    await syncOnce(service.syncContext, repository.id)
    service.now += hour
    await service.judge.round()
    await tell()
    assert.match(rowOf(comment?.text ?? '', 'prompts/q.md'), /\| \*\*worse\*\* \|$/, 'recovery has a hold of its own')
    service.now += 15 * minute
    await tell()
    assert.match(rowOf(comment?.text ?? '', 'prompts/q.md'), /\| reverted by \[commit [0-9a-f]{7}\]\(.*\) \|$/)
    assert.equal(forge.statuses.at(-1)?.state, 'success')
    assert.equal(forge.comments.length, 1)
    const deliveries = await service.store.alertDeliveries.page(tenant.organisation.id, null, page)
    assert.deepEqual(
      deliveries.deliveries.map(({ alertId, state }) => [alertId, state]),
      Array(3).fill([null, 'sent']),
    )
  })

  test('a change without a pull request has its commit marked, and nothing else', async () => {
    const { forge, tenant, bad } = await stage({ hasPull: false })
    const tell = openNotifier()
    assert.equal((await regressions(tenant)).length, 2)
    await tell()
    service.now += 15 * minute
    await tell()
    assert.deepEqual(forge.comments, [])
    assert.deepEqual(
      forge.statuses.map(({ sha, state }) => [sha, state]),
      [[bad, 'failure']],
    )
  })

  test('a rejected token is not tried for days, and what is still open is told with the next one', async () => {
    const { forge, tenant, repository } = await stage()
    const tell = openNotifier()
    const { token } = forge
    forge.token = 'another-token'
    await tell()
    service.now += 15 * minute
    await tell()
    assert.match(await reportError(tenant, repository), /invalid or expired/)
    const requests = forge.requests.length
    service.now += 6 * hour
    await tell()
    assert.equal(forge.requests.length, requests)

    const update = { token: forge.token }
    assert.notEqual(update.token, token)
    await service.repositories.update(repository, update, operator)
    assert.equal(await reportError(tenant, repository), null)
    await tell()
    assert.equal(forge.comments.length, 1)
  })

  test('a report that is tried again after the end does not call open what is over', async () => {
    const { forge, tenant, repository } = await stage()
    const tell = openNotifier()
    forge.canComment = false
    forge.canSetStatus = false
    await tell()
    service.now += 15 * minute
    await tell()
    const [delivery] = (await service.store.alertDeliveries.page(tenant.organisation.id, null, page)).deliveries
    assert.equal(delivery?.state, 'failed')
    for (const { id, prompt } of await regressions(tenant)) {
      const url = `/api/v1/prompts/${prompt.id}/regressions/${id}/dismiss`
      const payload = { note: 'On purpose' }
      assert.equal(
        (await service.app.inject({ method: 'POST', url, headers: tenant.headers, payload })).statusCode,
        200,
      )
    }
    Object.assign(forge, { canComment: true, canSetStatus: true })
    await tell()
    const retried = await service.store.alertDeliveries.retry(delivery, service.now, operator)
    assert.equal(retried?.state, 'pending')
    await tell()
    assert.deepEqual(forge.comments, [])
    assert.equal(forge.statuses.at(-1)?.state, 'success')
    assert.match(await reportError(tenant, repository), /^Cannot comment on the pull request/)
  })

  test('two processes tell a pull request once', async () => {
    const { forge } = await stage()
    const [first, second] = [openNotifier(), openNotifier()]
    await Promise.all([first(), second()])
    service.now += 15 * minute
    await Promise.all([first(), second()])
    await Promise.all([first(), second()])
    assert.equal(forge.comments.length, 1)
    assert.equal(forge.statuses.length, 1)
  })

  test('without the switch, the forge is never asked', async () => {
    const { forge, repository } = await stage()
    await service.repositories.update(repository, { reportsOnPulls: false }, operator)
    const tell = openNotifier()
    await tell()
    service.now += 15 * minute
    await tell()
    assert.deepEqual(forge.requests, [])
  })
})
