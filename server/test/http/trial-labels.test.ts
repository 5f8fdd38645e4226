import assert from 'node:assert/strict'
import { test } from 'node:test'
import { onOneEngine } from '../../../testing/engines.ts'
import { openPull } from '../../../testing/operations.ts'
import { connectedScenario, type Scenario } from '../../../testing/scenario.ts'
import { useService } from '../../../testing/service.ts'
import { operator } from '../../src/domain/access/audit.ts'
import { minute } from '../../src/domain/time.ts'
import type { HasWriteAccess } from '../../src/domain/trials/label.ts'
import { createTrialRounds } from '../../src/service/trials.ts'

onOneEngine('Labels that start trials', (engine) => {
  const service = useService(engine)
  const refused: string[] = []
  const asked: string[] = []
  let hasWriteAccess: HasWriteAccess = async (_repository, user) => {
    asked.push(user)
    return user === 'grace'
  }

  let rounds: ReturnType<typeof createTrialRounds> | null = null
  async function round(): Promise<void> {
    rounds ??= createTrialRounds({
      store: service.store,
      clock: () => service.now,
      log: { warn() {} } as never,
      repositories: service.repositories,
      hasWriteAccess: (...who) => hasWriteAccess(...who),
      reportOnPull: async (message) => {
        if (message.event === 'trial.refused') refused.push(message.reason)
        return { outcome: 'sent', status: 200, response: null, error: null }
      },
    })
    await rounds.round()
    await rounds.idle()
  }

  async function stage() {
    const scenario = await connectedScenario(service)
    const { organisation } = scenario.tenant
    await service.store.liveTexts.updateSettings(organisation.id, { enabled: true }, service.now, operator)
    await service.storeLiveTexts()
    const head = await openPull(scenario, 41)
    return { scenario, head, label: labeller(scenario, head) }
  }

  /** Sets the labels of pull request 41, and looks. */
  function labeller(scenario: Scenario, head: string) {
    let before: string[] = []
    let seconds = 0
    return async (actor: string, ...after: string[]) => {
      const at = new Date(Date.parse('2026-11-02T11:00:00Z') + 1_000 * seconds++).toISOString()
      const facts = { number: 41, head, openedAt: '2026-11-02T10:00:00Z', at, actor, labels: { before, after } }
      await scenario.deliver(scenario.forge.pull({ action: 'labeled', ...facts }))
      before = after
      await round()
    }
  }

  const trialsOf = async ({ tenant }: Scenario) => {
    const request = { page: '1', limit: 10 }
    const { trials } = await service.store.trials.page(tenant.organisation.id, null, null, null, request)
    return trials.map(({ state, share, startedBy, commitSha, prNumber }) => [
      state,
      share,
      startedBy,
      prNumber,
      commitSha,
    ])
  }

  test('someone with write access starts, changes and ends a trial by a label', async () => {
    const { scenario, head, label } = await stage()
    await label('grace', 'promptledger: 10%')
    assert.deepEqual(await trialsOf(scenario), [['running', 0.1, 'grace', 41, head]])
    asked.length = 0
    await label('eve', 'promptledger: 10%', 'bug')
    assert.deepEqual([asked, await trialsOf(scenario)], [[], [['running', 0.1, 'grace', 41, head]]])
    await label('grace', 'bug', 'promptledger: 20%')
    assert.deepEqual(await trialsOf(scenario), [['running', 0.2, 'grace', 41, head]])
    await label('eve', 'bug', 'promptledger: 100%')
    assert.deepEqual(await trialsOf(scenario), [['running', 0.2, 'grace', 41, head]])
    assert.match(refused.at(-1) ?? '', /^eve has no write access/)
    await label('grace', 'bug')
    assert.deepEqual(await trialsOf(scenario), [['ended', 0.2, 'grace', 41, head]])
    service.now += minute
    await label('grace', 'bug', 'promptledger: 5%')
    assert.deepEqual((await trialsOf(scenario))[0], ['running', 0.05, 'grace', 41, head])
  })

  test('the label of a stranger, or one on a commit that is no longer the head, serves nothing and says why', async () => {
    const { scenario, head, label } = await stage()
    await label('eve', 'promptledger: 10%')
    assert.match(refused.at(-1) ?? '', /^eve has no write access to the repository\.$/)
    // Someone else who changes other labels does not approve of it.
    await label('grace', 'promptledger: 10%', 'bug')
    await label('grace', 'bug')
    scenario.git.switchTo('pull-41')
    scenario.git.commit('Other', { 'prompts/p.md': 'Hostile.\n' })
    const pushed = scenario.git.head()
    scenario.git.push('pull-41:refs/pull/41/head', 'pull-41:pull-41')
    scenario.git.switchTo('main')
    const facts = { number: 41, head: pushed, openedAt: '2026-11-02T10:00:00Z', at: '2026-11-02T12:00:00Z' }
    await scenario.deliver(scenario.forge.pull({ action: 'updated', ...facts }))
    await label('grace', 'bug', 'promptledger: 10%')
    assert.match(refused.at(-1) ?? '', new RegExp(`^Commit is not the head of pull request 41, which is ${pushed} now`))
    assert.deepEqual(await trialsOf(scenario), [])
    assert.notEqual(head, pushed)
  })

  test('a forge that does not answer is asked again, and a label without an answer starts nothing', async () => {
    const { scenario, head, label } = await stage()
    const answers: Awaited<ReturnType<HasWriteAccess>>[] = [{ error: 'It hangs.', isFinal: false }, true]
    const before = hasWriteAccess
    hasWriteAccess = async () => answers.shift() ?? false
    await label('grace', 'promptledger: 10%')
    assert.deepEqual(await trialsOf(scenario), [])
    service.now += minute
    await round()
    assert.deepEqual(await trialsOf(scenario), [['running', 0.1, 'grace', 41, head]])
    hasWriteAccess = async () => ({ error: 'Reports on pull requests need a token.', isFinal: true })
    await label('grace', 'promptledger: 50%')
    assert.equal(refused.at(-1), 'Reports on pull requests need a token.')
    assert.deepEqual(await trialsOf(scenario), [['running', 0.1, 'grace', 41, head]])
    hasWriteAccess = before
  })
})
