import assert from 'node:assert/strict'
import { test } from 'node:test'
import { runCli } from '../../../testing/cli.ts'
import { onOneEngine } from '../../../testing/engines.ts'
import { connectedScenario } from '../../../testing/scenario.ts'
import { useService } from '../../../testing/service.ts'

interface Deployment {
  id: number
  environment: string
  production: boolean
  commit_state: string
  share: number
}

onOneEngine('promptledger deployment', (engine) => {
  const service = useService(engine)

  const run = (...args: string[]) =>
    runCli({ DATABASE_URL: service.url, PROMPTLEDGER_SECRET_KEY: service.secretKey.toString('hex') }, args)
  const json = async <T>(...args: string[]): Promise<T> => JSON.parse((await run(...args, '--json')).stdout)

  test('deployments of a repository and of a prompt are recorded once, and listed', async () => {
    const scenario = await connectedScenario(service)
    const repo = String(scenario.repository.id)
    const prompt = await scenario.promptId('prompts/p.md')
    const commit = scenario.git.head()
    const record = ['deployment', 'record', '--repo', repo, '--environment', 'live', '--commit', commit]
    const recorded = await json<Deployment>(...record, '--share', '0.25')
    assert.partialDeepStrictEqual(recorded, { production: true, commit_state: 'located', share: 0.25 })
    assert.deepEqual(await json(...record, '--share', '0.25'), recorded)
    const ofPrompt = ['deployment', 'record', '--prompt', prompt, '--environment', 'test', '--commit', commit]
    const other = await json<Deployment>(...ofPrompt, '--state', 'failure', '--at', '2026-11-01T00:00:00Z')
    assert.equal(other.production, false)
    assert.deepEqual(await json('deployment', 'list', '--repo', repo), [recorded])
    assert.deepEqual(await json('deployment', 'list', '--prompt', prompt), [recorded, other])
    assert.match((await run('deployment', 'list', '--prompt', prompt)).stdout, /live \(production\)/)
  })

  test('wrong options are named as the person typed them', async () => {
    const { repository } = await connectedScenario(service)
    const record = ['deployment', 'record', '--repo', String(repository.id), '--environment', 'live']
    const sha = 'a'.repeat(40)
    const wrong: [string[], number, RegExp][] = [
      [[...record, '--commit', 'main'], 1, /--commit must be the full commit hash/],
      [[...record, '--commit', sha, '--share', '2'], 1, /--share must be greater than 0 and at most 1/],
      [[...record, '--commit', sha, '--at', '9999-01-01T00:00:00Z'], 1, /--at must not be in the future/],
      [[...record, '--commit', sha, '--share', 'x'], 2, /Must be a number/],
      [[...record, '--commit', sha, '--state', 'done'], 2, /Allowed choices/],
      [['deployment', 'list'], 2, /pass '--repo <id>' or '--prompt <prompt>'/],
      [['deployment', 'list', '--repo', '987654'], 1, /There is no repository 987654/],
      [['repo', 'set-production', String(repository.id)], 2, /pass environments, '--default' or '--none'/],
    ]
    for (const [args, code, message] of wrong) {
      const result = await run(...args)
      assert.equal(result.code, code, result.stderr)
      assert.match(result.stderr, message)
    }
  })

  test('the production environments of a repository are set, reset and turned off', async () => {
    const scenario = await connectedScenario(service)
    const id = String(scenario.repository.id)
    const set = async (...args: string[]) =>
      (await json<{ production_environments: string[] | null }>('repo', 'set-production', id, ...args))
        .production_environments
    assert.deepEqual(await set('prod-*', 'eu'), ['prod-*', 'eu'])
    assert.deepEqual(await set('--none'), [])
    assert.equal(await set('--default'), null)
    const { stdout } = await run('repo', 'set-production', id, 'blue')
    assert.match(stdout, /^The production environments of repository \d+, .*, are blue\.\n$/)
    const { data } = await scenario.get('/audit?action=repository.updated')
    const details = (data as { details: object }[]).map((entry) => entry.details)
    assert.deepEqual(details.slice(0, 2), [{ production_environments: 'blue' }, { production_environments: 'default' }])
  })
})
