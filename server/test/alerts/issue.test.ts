import assert from 'node:assert/strict'
import { test } from 'node:test'
import pino from 'pino'
import { onOneEngine } from '../../../testing/engines.ts'
import { ForgeApiServer } from '../../../testing/forge-api.ts'
import { regressionMessage, toldPrompt } from '../../../testing/regression-message.ts'
import { figures } from '../../../testing/regressions.ts'
import { connectedScenario } from '../../../testing/scenario.ts'
import { type TestService, useService } from '../../../testing/service.ts'
import { createReportIssue } from '../../src/alerts/issue.ts'
import { operator } from '../../src/domain/access/audit.ts'
import type { RegressionMessage } from '../../src/domain/alerts/message.ts'
import type { ReportIssue } from '../../src/domain/alerts/pull-comment.ts'
import { type ForgeName, generateHookId, type Repository } from '../../src/domain/repositories/repository.ts'
import { minute } from '../../src/domain/time.ts'
import { withIssues } from '../../src/service/issues.ts'
import { createNotifier } from '../../src/service/notifier.ts'
import { createSender } from '../../src/service/sender.ts'

interface Stage {
  forge: ForgeApiServer
  repository: Repository
  report: (changes?: Partial<RegressionMessage>) => ReturnType<ReportIssue>
}

const start = regressionMessage({ id: 0, organisationId: 0 }).at
const repaired = (minutes: number): Partial<RegressionMessage> => ({
  event: 'regression.repaired',
  at: start + minutes * minute,
  prompts: [toldPrompt({ state: 'repaired', explanation: 'The rate is back, thanks @everyone.' })],
})

function reporterOf(service: TestService): ReportIssue {
  return createReportIssue({
    store: service.store,
    vault: service.syncContext.vault,
    clock: () => service.now,
    publicUrl: () => 'https://ledger.example',
    allowPrivateAddresses: false,
    allowHttp: false,
    log: { warn: (_details, message) => assert.fail(message) },
  })
}

async function stage(service: TestService, name: ForgeName): Promise<Stage> {
  const forge = await new ForgeApiServer(name).start()
  const hookId = generateHookId()
  const { id: organisationId } = await service.organisation()
  const sealedToken = service.syncContext.vault.encrypt(forge.token, { hookId, kind: 'token' })
  const place = { forge: name, url: forge.cloneUrl, path: 'prompts/**', similarity: 50, hookId, sealedSecret: '' }
  const repository = await service.store.repositories.connect(
    { ...place, organisationId, sealedToken, opensIssues: true, createdAt: service.now },
    operator,
  )
  assert(repository !== null)
  const report = reporterOf(service)
  return { forge, repository, report: (changes) => report(repository, regressionMessage(repository, changes)) }
}

onOneEngine('Issues about regressions', (engine) => {
  const service = useService(engine)

  for (const name of ['github', 'gitlab', 'gitea'] as const) {
    test(`on ${name}, a change has one issue, which is closed with a comment, and opened again with the regression`, async () => {
      const { forge, report } = await stage(service, name)
      const hostile = toldPrompt({ name: '@everyone `#1` <img src=x>', explanation: 'closes #2 @all\n/close' })
      assert.equal((await report({ prompts: [hostile] })).outcome, 'sent')
      const [issue] = forge.issues
      assert.equal(issue?.isOpen, true)
      assert.doesNotMatch(issue?.title ?? '', /@everyone|#1/)
      // Forges interpret nothing in code.
      assert.doesNotMatch(issue?.text.replaceAll(/`[^`]+`/g, '') ?? '', /@(everyone|all)|#[12]\b|^\/close|<img/m)
      assert.match(issue?.text ?? '', /\[pull request 7\]\(https:\/\/forge\.example\/acme\/prompts\/pull\/7\)/)

      const second = toldPrompt({ name: 'second', regressionId: 13 })
      assert.equal((await report({ at: start + minute, prompts: [hostile, second] })).outcome, 'sent')
      assert.match(issue?.text ?? '', /users rate 2 prompts worse/)
      assert.deepEqual([forge.issues.length, forge.comments.length], [1, 0])

      assert.equal((await report(repaired(2))).outcome, 'sent')
      assert.equal(issue?.isOpen, false)
      assert.equal(forge.comments.length, 1)
      assert.match(forge.comments[0]?.text ?? '', /repaired, users rate 1 prompt as before.*The rate is back/s)
      assert.doesNotMatch(forge.comments[0]?.text ?? '', /@everyone/)
      assert.equal((await report({ at: start + minute })).response, 'The issue shows a newer message already.')

      assert.equal((await report({ at: start + 3 * minute })).outcome, 'sent')
      assert.deepEqual([forge.issues.length, issue?.isOpen], [1, true])
      Object.assign(issue as object, { isOpen: false, title: 'Renamed' })
      assert.equal((await report({ at: start + 4 * minute })).outcome, 'sent')
      assert.equal(issue?.isOpen, false, 'a person closed it')
      assert.equal(issue?.title, 'Renamed')
    })
  }

  test('a crash after any request leads to one issue and one comment', async () => {
    const { forge, report } = await stage(service, 'github')
    const crashAfter = async (request: number, changes?: Partial<RegressionMessage>) => {
      service.now += 2 * minute
      // Requests before it are handled as usual.
      let seen = 0
      forge.before = async () => {
        if (++seen === request) forge.planned.push({ status: 0, afterwards: true })
      }
      const { outcome } = await report(changes)
      forge.planned.length = 0
      forge.before = async () => {}
      return outcome
    }
    // Two pages of issues are read, because the first has a pull request.
    assert.equal(await crashAfter(3), 'retry')
    assert.equal(forge.issues.length, 1)
    for (const request of [1, 2, 3]) {
      if ((await crashAfter(request)) === 'sent') break
    }
    assert.equal((await report()).outcome, 'sent')
    assert.equal(forge.issues.length, 1)
    // Reading the issue, its comments, the comment and the edit.
    for (const request of [1, 2, 3, 4]) await crashAfter(request, repaired(1))
    service.now += 2 * minute
    assert.deepEqual(await report(repaired(1)), { outcome: 'sent', status: 200, response: null, error: null })
    assert.deepEqual([forge.issues.length, forge.issues[0]?.isOpen, forge.comments.length], [1, false, 1])
  })

  test('of two processes that report at the same time, one opens the issue', async () => {
    const { forge, repository, report } = await stage(service, 'gitea')
    const [arrived, gate] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
    forge.before = () => {
      arrived.resolve()
      return gate.promise
    }
    const first = report()
    await arrived.promise
    assert.equal((await reporterOf(service)(repository, regressionMessage(repository))).outcome, 'retry')
    gate.resolve()
    assert.equal((await first).outcome, 'sent')
    assert.equal(forge.issues.length, 1)
  })

  test('a regression that ended before it was reported opens no issue, and an issue of others is never changed', async () => {
    const { forge, report } = await stage(service, 'gitea')
    assert.equal((await report(repaired(0))).outcome, 'sent')
    assert.equal(forge.issues.length, 0)
    assert.equal((await report({ at: start + minute })).outcome, 'sent')
    // As at another URL: the number is that of another issue.
    Object.assign(forge.issues[0] as object, { text: 'About something else.' })
    assert.equal((await report(repaired(2))).outcome, 'sent')
    assert.deepEqual([forge.issues[0]?.text, forge.issues[0]?.isOpen], ['About something else.', true])
  })

  test('a regression of a repository that opens issues gets one from the notifier, and a refusal says what the token lacks', async () => {
    const scenario = await connectedScenario(service)
    const { repository, tenant } = scenario
    const forge = await new ForgeApiServer(repository.forge).start()
    const { vault } = service.syncContext
    const sealedToken = vault.encrypt(forge.token, { hookId: repository.hookId, kind: 'token' })
    const change = { ...repository, url: forge.cloneUrl, sealedToken, opensIssues: true, connectedByOperator: true }
    await service.store.repositories.update(repository, change, service.now, operator)
    const prompts = await service.store.facts.prompts(repository)
    const prompt = prompts[0] as (typeof prompts)[number]
    const page = await service.store.history.page(prompt, { page: '1', limit: 1 })
    const [entry] = page.entries
    await service.store.regressions.open(prompt, entry as { id: number; commitSha: string }, figures, service.now)
    const log = pino({ level: 'silent' })
    const clock = () => service.now
    const { store, planLimits } = service
    const report = () => assert.fail('reports on pull requests are off')
    const reportOnPull = withIssues(report, { store, reportIssue: reporterOf(service) })
    const context = { store, vault, send: () => assert.fail('no alert'), reportOnPull, planLimits, clock, log }
    const [notifier, sender] = [createNotifier(context), createSender(context)]
    const tell = async () => {
      service.now += 16 * minute
      await notifier.round()
      await sender.round()
      await sender.idle()
    }
    forge.canOpenIssues = false
    await tell()
    assert.match(
      (await store.repositories.find(repository.id))?.reportError ?? '',
      /Cannot open an issue.*write access to Issues/,
    )
    forge.canOpenIssues = true
    await store.repositories.update(
      { ...repository, ...change },
      { ...change, sealedToken: vault.encrypt(forge.token, { hookId: repository.hookId, kind: 'token' }) },
      service.now,
      operator,
    )
    await tell()
    assert.equal(forge.issues.length, 1)
    assert.equal((await store.repositories.find(repository.id))?.reportError, null)
    const [regression] = await store.regressions.ofPrompt(prompt)
    const id = regression?.id as number
    const [key] = await store.keys.list(tenant.organisation.id)
    await store.regressions.dismiss(prompt, id, 'On purpose.', service.now, { keyId: key?.id as number })
    await tell()
    assert.equal(forge.issues[0]?.isOpen, false)
    assert.match(forge.comments[0]?.text ?? '', /dismissed, 1 prompt got worse.*On purpose/s)
  })
})
