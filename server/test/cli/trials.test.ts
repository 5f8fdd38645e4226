import assert from 'node:assert/strict'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { type Account, createAccount } from '../../../testing/account.ts'
import { type CliResult, runCli, runCliJson } from '../../../testing/cli.ts'
import { sqlite } from '../../../testing/engines.ts'
import { eventually } from '../../../testing/eventually.ts'
import { GitRepository } from '../../../testing/git-repository.ts'
import { type RunningProcess, startServe } from '../../../testing/processes.ts'

const path = 'prompts/p.md'

describe('Trials in a running service', () => {
  const git = new GitRepository()
  let service: RunningProcess
  let account: Account
  let home: string
  let url: string
  let repositoryId: string
  before(async () => {
    git.commit('Start', { [path]: 'Be kind.\n' })
    git.push()
    ;({ url } = await sqlite.create())
    account = await createAccount(url, 'business')
    service = await startServe({ DATABASE_URL: url, PROMPTLEDGER_SECRET_KEY: Buffer.alloc(32, 7).toString('base64') })
    home = await mkdtemp(join(tmpdir(), 'promptledger-home-'))
    assert.equal((await run('login', service.address)).code, 0)
    const org = String(account.organisationId)
    const connect = ['repo', 'connect', '--org', org, '--forge', 'github', '--url', git.remote, '--path', 'prompts/**']
    const secretKey = { PROMPTLEDGER_SECRET_KEY: Buffer.alloc(32, 7).toString('base64') }
    const connected = await runCli({ DATABASE_URL: url, ...secretKey }, [...connect, '--json'])
    assert.equal(connected.code, 0, connected.stderr)
    repositoryId = String(JSON.parse(connected.stdout).id)
    await request('PATCH', 'delivery/settings', { enabled: true })
  })
  after(async () => {
    await service.stop()
    await rm(home, { recursive: true, force: true })
  })

  function run(...args: string[]): Promise<CliResult> {
    return runCli({ HOME: home, XDG_CONFIG_HOME: home }, args, args[0] === 'login' ? account.key : undefined)
  }

  // biome-ignore lint/suspicious/noExplicitAny: the tests compare what they read.
  async function request(method: string, path: string, body?: object): Promise<any> {
    const headers = { authorization: `Bearer ${account.key}`, ...(body && { 'content-type': 'application/json' }) }
    const response = await fetch(`${service.address}/api/v1/${path}`, {
      method,
      headers,
      ...(body && { body: JSON.stringify(body) }),
    })
    return response.status === 204 ? null : response.json()
  }

  const delivered = async () => (await request('GET', 'delivery')).data.prompts[0]

  test('a merge is delivered by itself, and a commit can be tried, followed, changed and ended', async () => {
    await eventually(async () => assert.equal((await delivered())?.text, 'Be kind.\n'))
    git.commit('Change', { [path]: 'Be brief.\n' })
    git.push()
    await runCliJson(url, ['repo', 'sync', repositoryId]).catch(() => {})
    await eventually(async () => assert.equal((await delivered()).text, 'Be brief.\n'))

    git.switchTo('work', 'main')
    git.commit('Try', { [path]: 'Be brief and kind.\n' })
    const commit = git.head()
    git.push('work:work')
    git.switchTo('main')
    const started = await run('try', commit, '--share', '50%')
    assert.equal(started.code, 0, started.stderr)
    assert.match(started.stdout, new RegExp(`^trl_\\w{24}  ${commit.slice(0, 7)}  running\nPrompts    prompts/p.md\n`))
    const [id = ''] = /trl_\w{24}/.exec(started.stdout) ?? []
    const { trial } = await delivered()
    assert.deepEqual(trial, { id, share: 0.5, version: commit, text: 'Be brief and kind.\n' })

    const second = await run('try', commit, '--share', '10%')
    assert.deepEqual([second.code === 0, second.stderr.includes(id)], [false, true])
    assert.match((await run('trials')).stdout, new RegExp(`${id} +${commit.slice(0, 7)} +prompts/p.md +running +50%`))
    assert.match((await run('trial', id, '--share', '20%')).stdout, /Share {6}20%/)
    assert.match((await run('trial', id, '--pause')).stdout, / {2}paused\n/)
    assert.equal((await delivered()).trial, null)
    assert.match((await run('trial', id, '--resume')).stdout, / {2}running\n/)

    // Everyone who gets the candidate dislikes it.
    const prompt = (await delivered()).id
    const [live, sends] = [(await delivered()).version, [] as Promise<unknown>[]]
    for (let i = 0; i < 400; i++) {
      const { data } = await request('GET', `prompts/${prompt}/text?unit=user-${i}`)
      const value = data.version === live ? 'positive' : 'negative'
      sends.push(request('POST', `prompts/${prompt}/signals`, { value, version: data.version, voter: `user-${i}` }))
    }
    await Promise.all(sends)
    await eventually(async () => assert.equal((await delivered()).trial, null))
    const shown = await run('trial', id)
    assert.match(shown.stdout, / {2}ended \(worse\)\n(.*\n)*Worse than the live version\.\n/)
    const json = JSON.parse((await run('trial', id, '--json')).stdout)
    assert.deepEqual([json.verdict, json.mismatch], ['worse', false])
  })

  test('wrong arguments are usage errors, and what the service rejects says why', async () => {
    for (const args of [
      ['try', 'x', '--share', '10%'],
      ['try', '41', '--share', '110%'],
      ['try', '41', '--ramp', '5%,x'],
      ['trial', 'trl_x', '--pause', '--end'],
      ['trials', '--state', 'gone'],
    ]) {
      assert.equal((await run(...args)).code, 2, args.join(' '))
    }
    assert.match((await run('try', '41')).stderr, /share is required, or ramp/)
    assert.match((await run('try', '41', '--share', '10%')).stderr, /pull is unknown in /)
    assert.notEqual((await run('trial', 'trl_x')).code, 0)
  })
})
