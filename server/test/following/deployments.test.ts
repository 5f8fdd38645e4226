import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type DeploymentBody, deploy, vote } from '../../../testing/deployments.ts'
import { onOneEngine } from '../../../testing/engines.ts'
import type { GitRepository } from '../../../testing/git-repository.ts'
import { connectedScenario, type Scenario } from '../../../testing/scenario.ts'
import { useService } from '../../../testing/service.ts'
import type { Prompt } from '../../src/domain/prompt.ts'

interface Effect {
  live_from: string
  live_until: string | null
  live_source: string
  live_windows: { from: string; until: string | null; share: number; live_source: string; environment: string | null }[]
  before: { positive: number; negative: number }
  after: { positive: number; negative: number }
  unattributed: number
}

type Impact = Effect & { entry: { id: number; commit_sha: string } }

const day = (number: number, time = '10:00') => `2026-11-${String(number).padStart(2, '0')}T${time}:00.000Z`

onOneEngine('Deployments of a repository', (engine) => {
  const service = useService(engine)

  /** One change a day from 1 November: each touches p, and between them commits that touch no prompt. */
  async function lineOf(changes: number): Promise<Line> {
    const commits: Commits = { changes: [], others: [] }
    const scenario = await connectedScenario(service, {
      prepare(git) {
        for (let i = 1; i <= changes; i++) addChange(git, commits, i)
        git.push()
      },
    })
    const prompt = await promptAt(scenario)
    return { ...commits, scenario, prompt, path: `/prompts/${prompt.publicId}` }
  }

  const get = (scenario: Scenario, path: string) =>
    service.app.inject({ url: `/api/v1${path}`, headers: scenario.tenant.headers })

  async function impacts({ scenario, path }: Line): Promise<{ data: Impact[]; unknown: object }> {
    const response = await get(scenario, `${path}/impact`)
    assert.equal(response.statusCode, 200, response.body)
    const { data, unknown_versions } = response.json()
    const timeline = (await get(scenario, `${path}/timeline`)).json()
    assert.deepEqual(timeline.unknown_versions, unknown_versions)
    for (const { entry, ...effect } of data) {
      const found = timeline.data.find((item: { entry: { id: number } }) => item.entry.id === entry.id)
      assert.deepEqual(found.impact, effect, 'the timeline and the impact differ')
    }
    const lived = timeline.data.filter((item: { impact: object | null }) => item.impact !== null)
    assert.equal(lived.length, data.length)
    const overview = (await get(scenario, path)).json().data
    assert.equal(overview.last_change?.id ?? null, data[0]?.entry.id ?? null)
    assert.equal(overview.verdict, data[0]?.verdict ?? null)
    return { data, unknown: unknown_versions }
  }

  async function liveAt({ scenario, path }: Line, at: string) {
    const response = await get(scenario, `${path}/live?at=${at}`)
    if (response.statusCode === 404) return null
    assert.equal(response.statusCode, 200, response.body)
    const { entry, live_source, share, environment, also_live } = response.json().data
    return { sha: entry.commit_sha, live_source, share, environment, also: also_live.map(shaAndShare) }
  }

  const list = async (scenario: Scenario, path: string): Promise<DeploymentBody[]> =>
    (await get(scenario, `${path}/deployments`)).json().data

  test('a change is live from its deployment on, although a later commit was deployed, and by its merge before', async () => {
    const line = await lineOf(3)
    const { scenario, changes, others } = line
    const deployed = await deploy(scenario, others[1] as string, day(5))
    assert.deepEqual([deployed.commit_state, deployed.production, deployed.share], ['pending', true, 1])
    // Until the commit is located, the merges decide.
    assert.equal((await liveAt(line, day(6)))?.sha, changes[2])
    await scenario.sync()
    const [located] = await list(scenario, `/repositories/${scenario.repository.id}`)
    assert.equal(located?.commit_state, 'located')
    const [ofPrompt] = await list(scenario, line.path)
    const { data } = await impacts(line)
    assert.equal(ofPrompt?.entry_id, data.find(({ entry }) => entry.commit_sha === changes[1])?.entry.id)
    assert.deepEqual(await liveAt(line, day(2, '12:00')), merged(changes[1]))
    assert.deepEqual(await liveAt(line, day(4)), merged(changes[2]))
    assert.deepEqual(await liveAt(line, day(5)), inProduction(changes[1]))
    assert.deepEqual(
      data.map(({ entry, live_source, live_until }) => [entry.commit_sha, live_source, live_until]),
      [
        [changes[2], 'merge', day(5)],
        [changes[1], 'merge', null],
        [changes[0], 'merge', day(2)],
      ],
    )
    await deploy(scenario, changes[2] as string, day(7))
    assert.deepEqual(
      await liveAt(line, day(7)),
      inProduction(changes[2]),
      'a commit that changed a prompt needs no sync',
    )
  })

  test('signals count for the change that was deployed when they came', async () => {
    const line = await lineOf(2)
    const { scenario, prompt, changes } = line
    await deploy(scenario, changes[0] as string, day(1, '11:00'))
    await deploy(scenario, changes[1] as string, day(8))
    for (const at of [day(3), day(7, '23:59')]) await vote(scenario, prompt.id, 'positive', at)
    await vote(scenario, prompt.id, 'negative', day(8, '00:30'))
    await vote(scenario, prompt.id, 'negative', day(8, '10:00'))
    const { data } = await impacts(line)
    assert.deepEqual(data.map(tallies), [
      { sha: changes[1], source: 'deployment', before: [2, 1], after: [0, 1], unattributed: 0 },
      { sha: changes[0], source: 'merge', before: [0, 0], after: [2, 1], unattributed: 0 },
    ])
  })

  test('a failed, queued or running deployment makes nothing live, and neither does one to another environment', async () => {
    const line = await lineOf(2)
    const { scenario, changes } = line
    await deploy(scenario, changes[0] as string, day(3))
    for (const state of ['failure', 'queued', 'in_progress']) {
      await deploy(scenario, changes[1] as string, day(4), { state })
    }
    const staged = await deploy(scenario, changes[1] as string, day(4), { environment: 'staging' })
    assert.equal(staged.production, false)
    assert.deepEqual(await liveAt(line, day(5)), inProduction(changes[0]))
    await deploy(scenario, changes[1] as string, day(6))
    assert.deepEqual(await liveAt(line, day(6)), inProduction(changes[1]))
  })

  test('a rollback makes the older version live again, with both times and all of its signals', async () => {
    const line = await lineOf(2)
    const { scenario, prompt, changes } = line
    await deploy(scenario, changes[0] as string, day(3))
    await deploy(scenario, changes[1] as string, day(4))
    await deploy(scenario, changes[0] as string, day(5))
    for (const at of [day(3, '12:00'), day(5, '12:00'), day(6)]) await vote(scenario, prompt.id, 'positive', at)
    await vote(scenario, prompt.id, 'negative', day(4, '12:00'))
    assert.deepEqual(await liveAt(line, day(6)), inProduction(changes[0]))
    const { data } = await impacts(line)
    const [second, first] = [...data].sort((a, b) => b.entry.id - a.entry.id) as [Impact, Impact]
    assert.deepEqual(tallies(second).after, [0, 1])
    assert.deepEqual(tallies(first).after, [3, 0])
    assert.equal(first.live_until, null)
    assert.deepEqual(
      first.live_windows.map(({ from, until, live_source }) => [from, until, live_source]),
      [
        [day(1), day(2), 'merge'],
        [day(3), day(4), 'deployment'],
        [day(5), null, 'deployment'],
      ],
    )
    const deployed = second.live_windows.filter(({ live_source }) => live_source === 'deployment')
    assert.deepEqual(
      deployed.map(({ from, until }) => [from, until]),
      [[day(4), day(5)]],
    )
  })

  test('deploying the same version again changes nothing', async () => {
    const line = await lineOf(2)
    const { scenario, changes, others } = line
    await deploy(scenario, changes[0] as string, day(3))
    await deploy(scenario, others[0] as string, day(4))
    await deploy(scenario, changes[0] as string, day(5))
    await scenario.sync()
    const { data } = await impacts(line)
    const first = data.find(({ entry }) => entry.commit_sha === changes[0]) as Impact
    assert.deepEqual(
      first.live_windows.filter(({ live_source }) => live_source === 'deployment'),
      [{ from: day(3), until: null, share: 1, live_source: 'deployment', environment: 'production' }],
    )
  })

  test('a canary is live beside the other version, which signals without a version are credited to', async () => {
    const line = await lineOf(2)
    const { scenario, prompt, changes } = line
    const [stable, canary] = changes as [string, string]
    await deploy(scenario, stable, day(3))
    await deploy(scenario, canary, day(4), { share: 0.1 })
    await deploy(scenario, canary, day(6), { share: 0.6 })
    await deploy(scenario, canary, day(8))
    await vote(scenario, prompt.id, 'positive', day(5))
    await vote(scenario, prompt.id, 'positive', day(7))
    await vote(scenario, prompt.id, 'negative', day(5), canary)
    await vote(scenario, prompt.id, 'positive', day(9), stable.slice(0, 10))
    await vote(scenario, prompt.id, 'negative', day(9))
    const { data, unknown } = await impacts(line)
    const ofCanary = data.find(({ entry }) => entry.commit_sha === canary) as Impact
    const ofStable = data.find(({ entry }) => entry.commit_sha === stable) as Impact
    assert.deepEqual([tallies(ofStable).after, ofStable.unattributed], [[2, 0], 1])
    assert.deepEqual([tallies(ofCanary).after, ofCanary.unattributed], [[1, 2], 1])
    assert.deepEqual(tallies(ofCanary).before, [2, 0])
    assert.deepEqual(unknown, { positive: 0, negative: 0, versions: [] })
    assert.deepEqual(
      ofCanary.live_windows.filter(({ live_source }) => live_source === 'deployment').map(({ share }) => share),
      [0.1, 0.6, 1],
    )
    const [both] = [await liveAt(line, day(5))]
    assert.deepEqual(both, { ...inProduction(stable), share: 0.9, also: [[canary, 0.1]] })
    assert.equal((await liveAt(line, day(7)))?.sha, canary)
    await deploy(scenario, stable, day(10), { share: 0.3 })
    await deploy(scenario, stable, day(11), { state: 'inactive' })
    assert.deepEqual(await liveAt(line, day(11)), inProduction(canary))
  })

  test('the first deployment may be a canary beside what was merged', async () => {
    const line = await lineOf(3)
    const { scenario, changes } = line
    await deploy(scenario, changes[0] as string, day(5), { share: 0.25 })
    assert.deepEqual(await liveAt(line, day(6)), {
      ...inProduction(changes[2]),
      share: 0.75,
      also: [[changes[0], 0.25]],
    })
  })

  test('an inactive deployment ends what is live', async () => {
    const line = await lineOf(2)
    const { scenario, changes } = line
    await deploy(scenario, changes[1] as string, day(3))
    await deploy(scenario, changes[0] as string, day(4), { state: 'inactive' })
    assert.deepEqual(await liveAt(line, day(4)), inProduction(changes[1]))
    await deploy(scenario, changes[1] as string, day(5), { state: 'inactive' })
    assert.equal(await liveAt(line, day(5)), null)
    const { data } = await impacts(line)
    assert.equal(data[0]?.live_until, day(5))
  })

  test('a deployment counts as soon as a sync has fetched its commit', async () => {
    const line = await lineOf(1)
    const { scenario, changes } = line
    const { git } = scenario
    const next = git.commit('Two', { 'prompts/p.md': 'version 2\n' }, { at: day(2) })
    const head = git.commit('Docs', { 'README.md': 'two\n' }, { at: day(3) })
    await deploy(scenario, changes[0] as string, day(1, '12:00'))
    const early = await deploy(scenario, head, day(4))
    assert.equal(early.commit_state, 'pending')
    assert.deepEqual(await liveAt(line, day(5)), inProduction(changes[0]))
    await scenario.sync()
    const stateOf = async () => (await list(scenario, line.path))[0]?.commit_state
    assert.equal(await stateOf(), 'not_on_line', 'it has not been pushed')
    git.push()
    await scenario.advance(3_600)
    assert.equal(await stateOf(), 'located')
    assert.deepEqual(await liveAt(line, day(5)), inProduction(next))
  })

  test('a commit that is not on the line of the default branch is not guessed', async () => {
    const line = await lineOf(1)
    const { scenario, changes } = line
    const { git } = scenario
    git.switchTo('hotfix', 'main')
    const hotfix = git.commit('Hotfix', { 'prompts/p.md': 'hot\n' }, { at: day(2) })
    git.switchTo('main')
    git.commit('Two', { 'README.md': 'two\n' }, { at: day(3) })
    git.merge('hotfix', 'Merge hotfix', { at: day(4) })
    git.push('main', 'hotfix')
    await deploy(scenario, changes[0] as string, day(1, '12:00'))
    await deploy(scenario, hotfix, day(5))
    await scenario.sync()
    const [newest] = await list(scenario, `/repositories/${scenario.repository.id}`)
    assert.deepEqual([newest?.commit_sha, newest?.commit_state], [hotfix, 'not_on_line'])
    assert.deepEqual(await liveAt(line, day(6)), inProduction(changes[0]))
  })

  test('after a rewrite of the default branch, deployed commits keep the versions that they had', async () => {
    const line = await lineOf(2)
    const { scenario, changes, others } = line
    const { git } = scenario
    await deploy(scenario, others[1] as string, day(3))
    await scenario.sync()
    assert.deepEqual(await liveAt(line, day(4)), inProduction(changes[1]))
    git.git('reset', '--quiet', '--hard', others[0] as string)
    const rewritten = git.commit('Other', { 'prompts/q.md': 'q\n' }, { at: day(4) })
    git.push()
    await scenario.advance(3_600)
    assert.deepEqual(await liveAt(line, day(4)), inProduction(changes[1]), 'it was deployed before it was dropped')
    await deploy(scenario, rewritten, day(5))
    assert.deepEqual(await liveAt(line, day(5)), inProduction(changes[0]), 'the rewritten line lacks the second change')
    git.git('reset', '--quiet', '--hard', others[1] as string)
    git.push()
    await scenario.advance(3_600)
    assert.deepEqual(await liveAt(line, day(4)), inProduction(changes[1]), 'the commit is back at another position')
    const prompt = (await service.store.facts.prompts(scenario.repository)).find(({ path }) => path === 'prompts/q.md')
    const ofOther = { ...line, path: `/prompts/${prompt?.publicId}` }
    assert.deepEqual(await liveAt(ofOther, day(5)), inProduction(rewritten), 'what was deployed stays what it was')
  })

  test('a signal that names a commit which changed no prompt counts for the version in it, however late', async () => {
    const line = await lineOf(3)
    const { scenario, prompt, changes, others } = line
    const unknown = 'f'.repeat(40)
    service.now = Date.parse(day(16))
    await vote(scenario, prompt.id, 'negative', day(14), others[0])
    await vote(scenario, prompt.id, 'negative', day(15), others[1]?.slice(0, 9))
    await vote(scenario, prompt.id, 'positive', day(15), unknown)
    await vote(scenario, prompt.id, 'positive', day(15), ':blue')
    await vote(scenario, prompt.id, 'positive', day(15))
    const before = await impacts(line)
    assert.deepEqual(
      before.data.map((each) => tallies(each).after),
      [
        [1, 0],
        [0, 0],
        [0, 0],
      ],
    )
    assert.equal((before.unknown as { negative: number }).negative, 2)
    await scenario.advance(3_600)
    const after = await impacts(line)
    assert.deepEqual(
      after.data.map((each) => tallies(each).after),
      [
        [1, 0],
        [0, 1],
        [0, 1],
      ],
    )
    assert.deepEqual(after.unknown, {
      positive: 2,
      negative: 0,
      versions: [
        { version: 'blue', positive: 1, negative: 0 },
        { version: unknown, positive: 1, negative: 0 },
      ],
    })
    const ofEntry = after.data[2] as Impact
    await vote(scenario, prompt.id, 'positive', day(16), `#${ofEntry.entry.id}`)
    const { data } = await impacts(line)
    assert.deepEqual(tallies(data[2] as Impact), {
      sha: changes[0],
      source: 'merge',
      before: [0, 0],
      after: [1, 1],
      unattributed: 0,
    })
    service.now = Date.parse(day(15, '12:00'))
  })

  test('an abbreviated commit that could be two is unknown', async () => {
    const line = await lineOf(1)
    const { scenario, prompt } = line
    const { store } = service
    await scenario.sync()
    for (const [i, digit] of ['1', '2'].entries()) {
      const commitSha = `abcdef0${digit}`.padEnd(40, '0')
      const user = { name: 'Ada', email: 'ada@example.com' }
      const entry = { action: 'deployed' as const, user, commitSha, prNumber: null, prUrl: null, branchName: 'main' }
      await store.history.record(
        prompt,
        { ...entry, createdAt: Date.parse(day(8 + i)), dedupeKey: `told:${digit}` },
        service.now,
        null,
      )
    }
    await vote(scenario, prompt.id, 'positive', day(12), 'abcdef0')
    await vote(scenario, prompt.id, 'positive', day(12), 'abcdef02')
    const { data, unknown } = await impacts(line)
    assert.deepEqual(tallies(data[0] as Impact).after, [1, 0])
    assert.deepEqual(unknown, {
      positive: 1,
      negative: 0,
      versions: [{ version: 'abcdef0', positive: 1, negative: 0 }],
    })
  })

  test('two production environments with different versions are both live', async () => {
    const line = await lineOf(2)
    const { scenario, changes, path } = line
    const repository = `/api/v1/repositories/${scenario.repository.id}`
    const patch = (patterns: string[] | null) =>
      service.app.inject({
        method: 'PATCH',
        url: repository,
        headers: { ...scenario.tenant.headers, 'content-type': 'application/json' },
        payload: JSON.stringify({ production_environments: patterns }),
      })
    await deploy(scenario, changes[0] as string, day(3), { environment: 'eu-main' })
    await deploy(scenario, changes[1] as string, day(4), { environment: 'us-main' })
    await deploy(scenario, changes[0] as string, day(4), { environment: 'production' })
    assert.deepEqual(await liveAt(line, day(5)), inProduction(changes[0]))
    const patched = await patch(['*-main'])
    assert.equal(patched.statusCode, 200, patched.body)
    assert.deepEqual(patched.json().data.production_environments, ['*-main'])
    await scenario.sync()
    assert.deepEqual(await liveAt(line, day(5)), {
      sha: changes[1],
      live_source: 'deployment',
      share: 0.5,
      environment: 'us-main',
      also: [[changes[0], 0.5]],
    })
    assert.deepEqual((await list(scenario, path)).map(({ production }) => production).sort(), [false, true, true])
    assert.equal((await patch([])).statusCode, 200)
    assert.deepEqual(await liveAt(line, day(5)), merged(changes[1]), 'without production environments, merges decide')
    assert.equal((await patch(null)).statusCode, 200)
    assert.deepEqual(await liveAt(line, day(5)), inProduction(changes[0]))
  })

  test('the deployments of one organisation do not affect another with the same commits', async () => {
    const [one, other] = [await lineOf(2), await lineOf(2)]
    assert.deepEqual(one.changes, other.changes)
    await deploy(one.scenario, one.changes[0] as string, day(5))
    assert.deepEqual(await liveAt(one, day(6)), inProduction(one.changes[0]))
    assert.deepEqual(await liveAt(other, day(6)), merged(one.changes[1]))
    assert.deepEqual(await list(other.scenario, other.path), [])
  })
})

interface Commits {
  /** Commits that changed the prompt, and the commit after each, which did not. */
  changes: string[]
  others: string[]
}

interface Line extends Commits {
  scenario: Scenario
  prompt: Prompt
  path: string
}

function addChange(git: GitRepository, { changes, others }: Commits, i: number): void {
  changes.push(git.commit(`Change ${i}`, { 'prompts/p.md': `version ${i}\n` }, { at: day(i) }))
  others.push(git.commit(`Code ${i}`, { 'src/code.ts': `${i}\n` }, { at: day(i, '11:00') }))
}

async function promptAt({ service, repository }: Scenario): Promise<Prompt> {
  const prompts = await service.store.facts.prompts(repository)
  return prompts.find(({ path }) => path === 'prompts/p.md') as Prompt
}

function merged(sha: string | undefined) {
  return { sha, live_source: 'merge', share: 1, environment: null, also: [] }
}

function inProduction(sha: string | undefined) {
  return { sha, live_source: 'deployment', share: 1, environment: 'production', also: [] }
}

function shaAndShare({ entry, share }: { entry: { commit_sha: string }; share: number }): [string, number] {
  return [entry.commit_sha, share]
}

function tallies({ entry, live_source, before, after, unattributed }: Impact) {
  const pair = ({ positive, negative }: { positive: number; negative: number }) => [positive, negative]
  return { sha: entry.commit_sha, source: live_source, before: pair(before), after: pair(after), unattributed }
}
