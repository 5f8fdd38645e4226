import assert from 'node:assert/strict'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { stripVTControlCharacters } from 'node:util'
import { type Account, createAccount } from '../../../testing/account.ts'
import { type CliResult, runCli, runCliJson } from '../../../testing/cli.ts'
import { sqlite } from '../../../testing/engines.ts'
import { freePort } from '../../../testing/free-port.ts'
import { type RunningProcess, startServe } from '../../../testing/processes.ts'
import { openTestStore } from '../../../testing/service.ts'
import { noTerminal, runInTerminal } from '../../../testing/terminal.ts'
import { operator } from '../../src/domain/access/audit.ts'
import { newPrompt } from '../../src/domain/prompt.ts'

const hostile = 'evil\u001b[31m\u202e\u0007\nname'
const colour = '\u001b['
const raw = ['\u001b', '\u0007', '\u202e', '\r']

describe('The commands over HTTP', () => {
  let service: RunningProcess
  let account: Account
  let home: string
  let env: NodeJS.ProcessEnv
  before(async () => {
    const { url } = await sqlite.create()
    account = await createAccount(url, 'business')
    const org = String(account.organisationId)
    for (const name of ['prompts/support-reply.md', 'prompts/support-greeting.md', 'prompts/search.md']) {
      await runCliJson(url, ['prompt', 'create', '--org', org, '--name', name])
    }
    const store = await openTestStore(url)
    // Validation rejects such a name, but a path in git can have it.
    await store.prompts.create({ ...newPrompt(account.organisationId, 'x', Date.now()), name: hostile }, operator)
    await store.close()
    service = await startServe({ DATABASE_URL: url })
    home = await mkdtemp(join(tmpdir(), 'promptledger-home-'))
    env = { HOME: home, XDG_CONFIG_HOME: home }
    assert.equal((await runCli(env, ['login', service.address], account.key)).code, 0)
    for (const [i, commit] of ['a', 'b', 'c'].entries()) {
      const at = new Date(Date.now() - (3 - i) * 86_400_000).toISOString()
      await request('POST', 'prompts/prompts%2Fsearch.md/history', {
        action: 'deployed',
        user: { name: 'Ada \u202eecalevoL', email: 'ada@example.com' },
        commit_sha: commit.repeat(40),
        pr_number: null,
        pr_url: null,
        branch_name: 'main',
        created_at: at,
      })
    }
  })
  after(async () => {
    await service.stop()
    await rm(home, { recursive: true, force: true })
  })

  const run = (...args: string[]): Promise<CliResult> => runCli(env, args)
  const json = async <T>(...args: string[]): Promise<T> => {
    const { code, stdout, stderr } = await run(...args, '--json')
    assert.equal(code, 0, stderr)
    assert.equal(stderr, '')
    return JSON.parse(stdout)
  }

  async function request<T>(method: string, path: string, body?: object): Promise<T> {
    const headers = { authorization: `Bearer ${account.key}`, ...(body && { 'content-type': 'application/json' }) }
    const init = { method, headers, ...(body && { body: JSON.stringify(body) }) }
    const response = await fetch(`${service.address}/api/v1/${path}`, init)
    assert.ok(response.ok, `${path}: ${response.status}`)
    return (await response.json()) as T
  }

  const signal = (comment: string, value = 'positive') =>
    request('POST', `prompts/${account.promptId}/signals`, { value, comment })

  interface Named {
    id: string
    name: string
  }

  test('prompts are listed, searched, sorted and counted, with --json as the API returns them', async () => {
    const { data } = await request<{ data: Named[] }>('GET', 'prompts?sort=-name&q=support')
    assert.deepEqual(await json('prompts', 'support', '--sort', '-name'), data)
    assert.deepEqual(
      data.map(({ name }) => name),
      ['support', 'prompts/support-reply.md', 'prompts/support-greeting.md'],
    )
    const { stdout, stderr } = await run('prompts', 'support', '--sort', 'name', '-n', '2')
    assert.match(
      stdout,
      /^PROMPT +LAST CHANGE +EFFECT.*\nprompts\/support-greeting\.md .*\nprompts\/support-reply\.md .*pmt_\w+\n$/,
    )
    assert.match(stderr, /^2 of 3 prompts\. For more: -n 3\n$/)
    assert.match((await run('prompts', 'nothing')).stderr, /^No prompt matches "nothing"\.\n$/)
  })

  test('a prompt goes by its ID, its name, or a part that only one prompt has', async () => {
    const [search] = await json<Named[]>('prompts', 'search')
    const history = await json('log', 'prompts/search.md')
    for (const reference of [search?.id as string, 'SEARCH', 'search.m']) {
      assert.deepEqual(await json('log', reference), history)
    }
    // The whole name wins over others that contain it.
    assert.match((await run('log', 'support')).stderr, /^support has no changes yet\.\n$/)
  })

  test('a part that several prompts have is rejected with the candidates, and an unknown one with 4', async () => {
    const several = await run('log', 'support-')
    assert.equal(several.code, 4)
    assert.match(
      several.stderr,
      /^promptledger: 2 prompts match "support-"\. Use more of the name, or the ID:\n {2}pmt_\w+ {2}prompts\/support-greeting\.md\n {2}pmt_\w+ {2}prompts\/support-reply\.md\n$/,
    )
    for (const reference of ['nonsense', '..', '']) {
      const { code, stderr } = await run('impact', reference)
      assert.equal(code, 4)
      assert.match(stderr, /No prompt matches .*See 'promptledger prompts'/)
    }
    assert.equal((await run('show', 'search@999999999')).code, 4)
    assert.match(
      (await run('show', '999999999')).stderr,
      /There is no change 999999999\. See 'promptledger log <prompt>'/,
    )
  })

  test('the log shows the changes of a prompt, newest first, and of all prompts the last one', async () => {
    const changes = await json<{ entry: { id: number; commit_sha: string } }[]>('log', 'search')
    assert.deepEqual(
      changes.map(({ entry }) => entry.commit_sha[0]),
      ['c', 'b', 'a'],
    )
    const { stdout, stderr } = await run('log', 'search', '-n', '1')
    assert.match(
      stdout,
      /^change \d+ deployed c{10}\nAuthor: Ada .* <ada@example\.com>\nDate: +\d{4}-\d\d-\d\d \d\d:\d\d UTC\nLive: +.* to now\nEffect: Not enough data yet/,
    )
    assert.match(stderr, /^1 of 3 changes/)
    assert.equal((await run('log', 'search', '--oneline')).stdout.trim().split('\n').length, 3)
    assert.equal((await json<object[]>('log', 'search', '--since', new Date().toISOString())).length, 0)
    const all = await json<{ name: string; last_change: { id: number } }[]>('log')
    assert.deepEqual(
      all.map(({ name, last_change }) => [name, last_change.id]),
      [['prompts/search.md', changes[0]?.entry.id]],
    )
    assert.match((await run('log')).stdout, /^change \d+ of prompts\/search\.md deployed/)
    assert.equal((await run('log', 'search', '--since', 'yesterday')).code, 2)
  })

  test('a change is found by its commit, and one without a repository says why it has no text', async () => {
    const [newest, older] = await json<{ entry: { id: number } }[]>('log', 'search')
    const shown = await json<{ entry: { id: number } }>('show', 'search@bbbbbbbbb')
    assert.equal(shown.entry.id, older?.entry.id)
    assert.deepEqual(await json('show', String(older?.entry.id)), shown)
    assert.equal((await json<typeof shown>('show', 'search')).entry.id, newest?.entry.id)
    assert.match(
      (await run('show', `search@${newest?.entry.id}`)).stdout,
      /The text before this change is not known: .*\./,
    )
    const { code, stderr } = await run('diff', `search@${older?.entry.id}`)
    assert.equal(code, 4)
    assert.match(stderr, /The text after this change is not known/)
    assert.equal((await run('show', 'search@ddddddddd')).code, 4)
  })

  test('text that others wrote reaches the terminal only as escapes, and --json has the same value', async () => {
    await signal(hostile)
    const printed = [
      await run('prompts'),
      await run('log', 'search'),
      await run('log'),
      await run('signals', 'tail', 'support', '--no-follow'),
      await run('impact', 'evil'),
      await run('log', hostile),
      await run('prompts', '--json'),
    ]
    for (const { stdout, stderr } of printed) {
      assert.deepEqual(
        raw.filter((character) => (stdout + stderr).includes(character)),
        [],
      )
    }
    assert.ok(printed[0]?.stdout.includes('evil\\u{1b}[31m\\u{202e}\\u{7}\\u{a}name'), printed[0]?.stdout)
    const signals = JSON.parse((await run('signals', 'tail', 'support', '-n', '1', '--no-follow', '--json')).stdout)
    assert.equal(signals.comment, hostile)
    const forced = await runCli({ ...env, FORCE_COLOR: '1' }, ['prompts'])
    assert.ok(forced.stdout.includes(colour))
    const plain = stripVTControlCharacters(forced.stdout)
    assert.deepEqual(
      raw.filter((character) => plain.includes(character)),
      [],
    )
    assert.ok(forced.stdout.includes('evil\\u{1b}[31m'))
  })

  test('colour is for terminals, and the environment or an option decides otherwise', {
    skip: noTerminal,
  }, async () => {
    const inTerminal = async (args: string[], more: NodeJS.ProcessEnv = {}) =>
      (await runInTerminal(args, { env: { ...env, ...more } })).output
    assert.ok((await inTerminal(['prompts'])).includes(colour))
    assert.ok(!(await inTerminal(['prompts', '--no-color'])).includes(colour))
    assert.ok(!(await inTerminal(['prompts'], { NO_COLOR: '1' })).includes(colour))
    assert.ok(!(await inTerminal(['prompts'], { TERM: 'dumb' })).includes(colour))
    assert.ok(!(await run('prompts')).stdout.includes(colour))
    const force = { ...env, FORCE_COLOR: '1' }
    assert.ok((await runCli(force, ['prompts'])).stdout.includes(colour))
    assert.ok(!(await runCli(force, ['prompts', '--no-color'])).stdout.includes(colour))
    assert.ok(!(await runCli(force, ['prompts', '--json'])).stdout.includes(colour))
  })

  test('tables fit the width of the terminal', { skip: noTerminal }, async () => {
    const { output } = await runInTerminal(['prompts'], { env, columns: 84 })
    const lines = stripVTControlCharacters(output).split(/\r?\n/)
    assert.ok(
      lines.some((line) => line.includes('…')),
      output,
    )
    for (const line of lines) assert.ok(line.length <= 84, line)
  })

  test('a service that is away is reported with 5', async () => {
    const away = { HOME: home, PROMPTLEDGER_URL: `http://127.0.0.1:${await freePort()}`, PROMPTLEDGER_KEY: account.key }
    const { code, stdout, stderr } = await runCli(away, ['prompts'])
    assert.equal(code, 5)
    assert.equal(stdout, '')
    assert.match(
      stderr,
      /^promptledger: Cannot reach the service at http:\/\/127\.0\.0\.1:\d+: .*ECONNREFUSED[^\n]*\n$/,
    )
  })
})
