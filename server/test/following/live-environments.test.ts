import assert from 'node:assert/strict'
import { test } from 'node:test'
import { liveSchema } from '../../../contract/history.ts'
import { assertMatchesSchema } from '../../../testing/assertions.ts'
import { onOneEngine } from '../../../testing/engines.ts'
import { connectedScenario, type Entry } from '../../../testing/scenario.ts'
import { type Tenant, useService } from '../../../testing/service.ts'
import { hour, isoTime } from '../../src/domain/time.ts'

interface Environment {
  environment: string
  production: boolean
  since: string
  versions: { entry: Entry | null; commit_sha: string | null; share: number }[]
}

onOneEngine('What runs in each environment', (engine) => {
  const service = useService(engine)

  async function environments(tenant: Tenant, path: string, query = ''): Promise<Environment[]> {
    const response = await service.app.inject({ url: `${path}/live${query}`, headers: tenant.headers })
    assert.equal(response.statusCode, 200, response.body)
    assertMatchesSchema(liveSchema, response)
    return response.json().data.environments
  }

  /** Each environment in short: its name, and the versions with their shares. */
  function summary(found: Environment[]): string[] {
    return found.map(({ environment, production, versions }) => {
      const running = versions.map(({ entry, share }) => `${entry?.commit_sha.slice(0, 7) ?? null} ${share}`)
      return [`${environment}${production ? '*' : ''}`, ...running].join(' ')
    })
  }

  async function deploy(tenant: Tenant, path: string, environment: string, commit_sha: string, more: object = {}) {
    const payload = { environment, commit_sha, state: 'success', ...more }
    const { headers } = tenant
    const response = await service.app.inject({ method: 'POST', url: `${path}/deployments`, headers, payload })
    assert.equal(response.statusCode, 201, response.body)
  }

  test('staging runs the newest change of the commit that was deployed to it, although only production decides what is live', async () => {
    const commits: string[] = []
    const s = await connectedScenario(service, {
      prepare(git) {
        commits.push(git.commit('One', { 'prompts/p.md': 'one\n' }))
        commits.push(git.commit('Two', { 'prompts/p.md': 'two\n' }))
        commits.push(git.commit('Code', { 'main.ts': 'x\n' }))
        git.push()
      },
    })
    const [one = '', two = '', code = ''] = commits
    const { tenant } = s
    const repository = `/api/v1/repositories/${s.repository.id}`
    const prompt = `/api/v1/prompts/${await s.promptId('prompts/p.md')}`
    assert.deepEqual(await environments(tenant, prompt), [])
    const at = (hours: number) => ({ at: isoTime(service.now - (10 - hours) * hour) })
    await deploy(tenant, repository, 'production', one, at(1))
    await deploy(tenant, repository, 'staging', code, at(2))
    await deploy(tenant, repository, 'preview', 'f'.repeat(40), at(3))
    await deploy(tenant, repository, 'old', two, at(4))
    await deploy(tenant, repository, 'old', two, { state: 'inactive', ...at(5) })
    const before = await environments(tenant, prompt)
    const [o, t] = [one.slice(0, 7), two.slice(0, 7)]
    assert.deepEqual(summary(before), [`production* ${o} 1`, 'old', 'preview null 1', 'staging null 1'])
    await service.store.repositories.wake(s.repository, service.now)
    await s.sync()
    const after = await environments(tenant, prompt)
    assert.deepEqual(summary(after), [`production* ${o} 1`, 'old', 'preview null 1', `staging ${t} 1`])
    assert.equal(after[3]?.versions[0]?.commit_sha, code)
    assert.equal(after[3]?.since, at(2).at)
    const past = await environments(tenant, prompt, `?at=${at(4).at}`)
    assert.deepEqual(summary(past), [`production* ${o} 1`, `old ${t} 1`, 'preview null 1', `staging ${t} 1`])
    const live = (await s.get(`${prompt.replace('/api/v1', '')}/live`)).data as { entry: Entry }
    assert.equal(live.entry.commit_sha, one)
  })

  test('a canary shares its environment with what was merged before it, and prompts without a repository have environments too', async () => {
    const tenant = await service.tenant('free', 'admin')
    const [one, two] = ['a1'.repeat(20), 'b2'.repeat(20)]
    await tenant.recordEntry({ createdAt: service.now - 5 * hour, commitSha: one })
    await tenant.recordEntry({ createdAt: service.now - 4 * hour, commitSha: two })
    const at = isoTime(service.now - 4.5 * hour)
    await deploy(tenant, tenant.path, 'staging', two, { share: 0.25, at })
    const [staging] = await environments(tenant, tenant.path)
    assert.deepEqual(summary([staging as Environment]), ['staging a1a1a1a 0.75 b2b2b2b 0.25'])
    assert.deepEqual(
      staging?.versions.map(({ commit_sha }) => commit_sha),
      [null, two],
    )
  })
})
