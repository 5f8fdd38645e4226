import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { DeploymentBody } from '../../../testing/deployments.ts'
import { onOneEngine } from '../../../testing/engines.ts'
import { type DeploymentFacts, githubDeployment, gitlabDeployment } from '../../../testing/payloads/deployments.ts'
import { connectedScenario, type Scenario } from '../../../testing/scenario.ts'
import { useService } from '../../../testing/service.ts'

onOneEngine('Deployment webhooks', (engine) => {
  const service = useService(engine)

  async function twoVersions(forge: 'github' | 'gitlab' = 'github') {
    const commits: string[] = []
    const scenario = await connectedScenario(service, {
      forge,
      prepare(git) {
        commits.push(git.commit('One', { 'prompts/p.md': 'one\n' }, { at: '2026-11-01T10:00:00Z' }))
        commits.push(git.commit('Two', { 'prompts/p.md': 'two\n' }, { at: '2026-11-02T10:00:00Z' }))
        commits.push(git.commit('Code', { 'code.ts': '2\n' }, { at: '2026-11-02T11:00:00Z' }))
        git.push()
      },
    })
    const [one, two, head] = commits as [string, string, string]
    return { scenario, one, two, head }
  }

  const status = ({ secret, forgeName }: Scenario, facts: DeploymentFacts) =>
    (forgeName === 'gitlab' ? gitlabDeployment : githubDeployment)(secret, facts)

  async function liveText(scenario: Scenario, at: string): Promise<string | null> {
    const path = `/prompts/${await scenario.promptId('prompts/p.md')}/live?at=${at}`
    return ((await scenario.get(path)).data as { content: string }).content
  }

  const deployments = async (scenario: Scenario) =>
    (await scenario.get(`/repositories/${scenario.repository.id}/deployments`)).data as DeploymentBody[]

  test("a status from GitHub makes the deployed version live at the forge's time, also if it is sent twice", async () => {
    const { scenario, one, head } = await twoVersions()
    const delivery = status(scenario, { commit: one, state: 'success', at: '2026-11-04T10:00:00Z' })
    await scenario.deliver(delivery, status(scenario, { commit: head, state: 'in_progress' }))
    assert.equal(await liveText(scenario, '2026-11-04T09:59:59Z'), 'two\n')
    assert.equal(await liveText(scenario, '2026-11-04T10:00:00Z'), 'one\n')
    await scenario.deliver(status(scenario, { commit: head, state: 'success', id: 901, at: '2026-11-05T10:00:00Z' }))
    assert.equal(await liveText(scenario, '2026-11-05T10:00:00Z'), 'two\n')
    const known = await deployments(scenario)
    assert.deepEqual(
      known.map(({ commit_sha, state, source, commit_state }) => [commit_sha, state, source, commit_state]),
      [
        [head, 'success', 'github', 'located'],
        [head, 'in_progress', 'github', 'located'],
        [one, 'success', 'github', 'located'],
      ],
    )
    const again = { ...delivery, headers: { ...delivery.headers, 'x-github-delivery': 'another' } }
    await scenario.deliver(again)
    assert.equal((await deployments(scenario)).length, 3)
    assert.ok((await scenario.deliveryStates()).every((state) => state === 'done'))
  })

  test('when GitHub ends the deployment that a rollback replaced, the rollback stays live', async () => {
    const { scenario, one, two } = await twoVersions()
    const at = (time: string) => `2026-11-04T${time}:00Z`
    await scenario.deliver(
      status(scenario, { commit: one, state: 'success', id: 1, at: at('10:00') }),
      status(scenario, { commit: two, state: 'success', id: 2, at: at('11:00') }),
      status(scenario, { commit: one, state: 'success', id: 3, at: at('12:00') }),
      status(scenario, { commit: one, state: 'inactive', id: 1, at: at('12:01') }),
      status(scenario, { commit: two, state: 'inactive', id: 2, at: at('12:02') }),
    )
    assert.equal(await liveText(scenario, at('13:00')), 'one\n')
    await scenario.deliver(status(scenario, { commit: one, state: 'inactive', id: 3, at: at('14:00') }))
    const path = `/api/v1/prompts/${await scenario.promptId('prompts/p.md')}/live?at=${at('14:00')}`
    const gone = await service.app.inject({ url: path, headers: scenario.tenant.headers })
    assert.equal(gone.statusCode, 404)
  })

  test('the environment counts if the forge calls it production or its name does, and previews need no fetch', async () => {
    const { scenario, one, two } = await twoVersions()
    await scenario.deliver(status(scenario, { commit: one, state: 'success', environment: 'Live' }))
    assert.equal(await liveText(scenario, '2026-11-05T00:00:00Z'), 'one\n')
    const synced = scenario.repository.lastSyncAt
    service.now += 1_000
    const preview = { commit: two, state: 'success', environment: 'preview', at: '2026-11-05T00:00:00Z' }
    await scenario.deliver(status(scenario, preview))
    assert.equal(scenario.repository.lastSyncAt, synced)
    assert.equal(await liveText(scenario, '2026-11-06T00:00:00Z'), 'one\n')
    await scenario.deliver(
      status(scenario, { ...preview, environment: 'blue', production: true, at: '2026-11-07T00:00:00Z', id: 905 }),
    )
    const path = `/prompts/${await scenario.promptId('prompts/p.md')}/live?at=2026-11-08T00:00:00Z`
    const live = (await scenario.get(path)).data as { also_live: { share: number }[]; share: number; content: string }
    assert.deepEqual([live.content, live.share, live.also_live.map(({ share }) => share)], ['two\n', 0.5, [0.5]])
  })

  test("GitLab's hook makes the deployed version live", async () => {
    const { scenario, one } = await twoVersions('gitlab')
    await scenario.deliver(status(scenario, { commit: one, state: 'running' }))
    assert.equal(await liveText(scenario, '2026-11-05T00:00:00Z'), 'two\n')
    await scenario.deliver(status(scenario, { commit: one, state: 'success' }))
    assert.equal(await liveText(scenario, '2026-11-04T09:59:59Z'), 'two\n')
    assert.equal(await liveText(scenario, '2026-11-04T10:00:00Z'), 'one\n')
  })

  test('a delivery that is not signed with the secret, or is about another repository, changes nothing', async () => {
    const { scenario, one } = await twoVersions()
    const facts = { commit: one, state: 'success' }
    assert.equal(await scenario.send(githubDeployment('another secret', facts)), 401)
    const { headers, body } = status(scenario, facts)
    const { 'x-hub-signature-256': _, ...unsigned } = headers
    assert.equal(await scenario.send({ headers: unsigned, body }), 401)
    await scenario.deliver(scenario.forge.ping())
    const foreign = JSON.parse(body.toString())
    foreign.repository = {
      ...foreign.repository,
      id: 1,
      full_name: 'other/repository',
      html_url: 'https://x.example/o/r',
    }
    await scenario.deliver(scenario.forge.signed('deployment_status', Buffer.from(JSON.stringify(foreign))))
    assert.deepEqual(await deployments(scenario), [])
    assert.equal(await liveText(scenario, '2026-11-05T00:00:00Z'), 'two\n')
  })

  test("a time ahead of our clock is taken for that of the delivery's arrival", async () => {
    const { scenario, one } = await twoVersions()
    await scenario.deliver(status(scenario, { commit: one, state: 'success', at: '2030-01-01T00:00:00Z' }))
    const [known] = await deployments(scenario)
    assert.equal(known?.at, known?.received_at)
  })
})
