import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { setTimeout as pause } from 'node:timers/promises'
import { type CliResult, runCli } from '../../../testing/cli.ts'
import { type Engine, onEachEngine, postgres, sqlite, type TestDatabase } from '../../../testing/engines.ts'
import { GitRepository } from '../../../testing/git-repository.ts'
import { deliveriesFrom } from '../../../testing/payloads/deliveries.ts'
import { type RunningProcess, startServe } from '../../../testing/processes.ts'
import { queryRows } from '../../../testing/rows.ts'

interface Connected {
  id: number
  webhook_url: string
  webhook_secret: string
  prompts: { id: string; path: string }[]
  entries: number
}

const repositoryFields = [
  'id',
  'forge',
  'url',
  'path',
  'default_branch',
  'state',
  'incomplete',
  'webhook_url',
  'last_delivery_at',
  'last_sync_at',
  'last_error',
  'created_at',
]
const deliveryFields = ['id', 'event', 'state', 'attempts', 'error', 'received_at', 'next_attempt_at', 'finished_at']

function newRemote(): GitRepository {
  const git = new GitRepository()
  after(() => git.remove())
  git.commit('Start', { 'prompts/p.md': 'Be kind.\n', 'prompts/q.md': 'Be brief.\n' })
  git.commit('Be kinder', { 'prompts/p.md': 'Be very kind.\n' })
  git.push()
  return git
}

function parsed<T>({ code, stdout, stderr }: CliResult): T {
  assert.equal(code, 0, stderr)
  assert.equal(stderr, '')
  return JSON.parse(stdout)
}

async function until(condition: () => Promise<boolean>): Promise<void> {
  const deadline = performance.now() + 5_000
  while (!(await condition())) {
    assert.ok(performance.now() < deadline, 'it took longer than 5 seconds')
    await pause(50)
  }
}

/** A running service for the tests of the surrounding suite, and the command beside it. */
function useCommand(engine: Engine) {
  let database: TestDatabase
  let service: RunningProcess
  let env: NodeJS.ProcessEnv
  let org = ''
  let headers: Record<string, string>
  before(async () => {
    database = await engine.create()
    env = {
      DATABASE_URL: database.url,
      DATA_DIR: await mkdtemp(join(tmpdir(), 'promptledger-data-')),
      PROMPTLEDGER_FIRST_RUN: 'off',
      PROMPTLEDGER_SECRET_KEY: randomBytes(32).toString('hex'),
    }
    service = await startServe(env)
    env.PUBLIC_URL = service.address
    org = String((await json<{ id: number }>(['org', 'create', 'Acme'])).id)
    const { key } = await json<{ key: string }>(['key', 'create', '--org', org, '--role', 'admin'])
    headers = { authorization: `Bearer ${key}` }
  })
  after(async () => {
    await service.stop()
    await database.remove()
    await rm(env.DATA_DIR as string, { recursive: true })
  })

  const run = (args: string[], more: NodeJS.ProcessEnv = {}) => runCli({ ...env, ...more }, args)
  const json = async <T>(args: string[], more: NodeJS.ProcessEnv = {}) =>
    parsed<T>(await run([...args, '--json'], more))
  const connectArguments = ({ remote }: GitRepository, ...more: string[]) => {
    const required = ['--org', org, '--forge', 'github', '--url', remote, '--path', 'prompts/**']
    return ['repo', 'connect', ...required, ...more]
  }

  async function historyOf(promptId: string | undefined): Promise<{ commit_sha: string }[]> {
    const response = await fetch(`${service.address}/api/v1/prompts/${promptId}/history`, { headers })
    assert.equal(response.status, 200)
    return ((await response.json()) as { data: { commit_sha: string }[] }).data
  }

  async function deliver({ webhook_url, webhook_secret }: Connected, git: GitRepository): Promise<number> {
    const [after, before] = [git.head(), git.head('HEAD~1')]
    const push = deliveriesFrom('github', webhook_secret).push({ before, after, commits: [{ sha: after }] })
    const body = new Uint8Array(push.body)
    return (await fetch(webhook_url, { method: 'POST', headers: push.headers, body })).status
  }

  return {
    run,
    json,
    connectArguments,
    historyOf,
    deliver,
    org: () => org,
    address: () => service.address,
    url: () => database.url,
    output: () => service.output(),
  }
}

onEachEngine('The command repo', (engine) => {
  const command = useCommand(engine)
  const { json, run, connectArguments, historyOf, deliver } = command

  test('connects a repository whose pushes then show up in the history within seconds, and goes through its life', async () => {
    const git = newRemote()
    const connected = await json<Connected>(connectArguments(git))
    const { id, webhook_url, webhook_secret, prompts, ...rest } = connected
    assert.deepEqual(Object.keys(connected), [
      'id',
      'forge',
      'url',
      'default_branch',
      'webhook_url',
      'webhook_secret',
      'prompts',
      'entries',
    ])
    assert.deepEqual(rest, { forge: 'github', url: git.remote, default_branch: 'main', entries: 3 })
    assert.match(webhook_url, new RegExp(`^${command.address()}/webhooks/[0-9A-Za-z]{24}$`))
    assert.match(webhook_secret, /^[0-9a-f]{64}$/)
    assert.deepEqual(
      prompts.map(({ id, path }) => [/^pmt_/.test(id), path]),
      [
        [true, 'prompts/p.md'],
        [true, 'prompts/q.md'],
      ],
    )

    const pushed = git.commit('Be kindest', { 'prompts/p.md': 'Be most kind.\n' })
    git.push()
    assert.equal(await deliver(connected, git), 202)
    await until(async () => (await historyOf(prompts[0]?.id))[0]?.commit_sha === pushed)
    const sent = await json<{ id: number; event: string; state: string }[]>(['repo', 'deliveries', String(id)])
    assert.deepEqual(Object.keys(sent[0] as object), deliveryFields)
    assert.deepEqual(
      sent.map(({ event, state }) => [event, state]),
      [['push', 'done']],
    )

    const missed = git.commit('Missed', { 'prompts/q.md': 'Be briefer.\n' })
    git.push()
    const synced = await json<Record<string, unknown>>(['repo', 'sync', String(id)])
    assert.deepEqual(Object.keys(synced), [...repositoryFields, 'new_entries'])
    assert.partialDeepStrictEqual(synced, { id, state: 'following', new_entries: 1 })
    assert.equal((await historyOf(prompts[1]?.id))[0]?.commit_sha, missed)

    const again = await json<Record<string, unknown>>(['repo', 'redeliver', String(sent[0]?.id)])
    assert.deepEqual(Object.keys(again), deliveryFields)
    assert.partialDeepStrictEqual(again, { id: sent[0]?.id, state: 'done', attempts: 1 })

    const rotated = await json<Connected>(['repo', 'rotate-secret', String(id), '--overlap', '0m'])
    assert.deepEqual(Object.keys(rotated), ['webhook_url', 'webhook_secret', 'old_secret_until'])
    assert.equal(await deliver(connected, git), 401)
    assert.equal(await deliver(rotated, git), 202)

    const [listed] = (await json<Record<string, unknown>[]>(['repo', 'list', '--org', command.org()])).filter(
      (r) => r.id === id,
    )
    assert.deepEqual(Object.keys(listed as object), ['organisation_id', ...repositoryFields])
    assert.partialDeepStrictEqual(listed, { organisation_id: Number(command.org()), webhook_url, last_error: null })
    assert.ok(Date.parse(listed?.last_delivery_at as string) > Date.now() - 60_000)

    const gone = await json<Record<string, unknown>>(['repo', 'disconnect', String(id)])
    assert.deepEqual(Object.keys(gone), repositoryFields)
    assert.equal(gone.state, 'disconnected')
    assert.equal(await deliver(rotated, git), 404)
    assert.equal((await historyOf(prompts[0]?.id)).length, 3)
    for (const args of [
      ['sync', String(id)],
      ['redeliver', String(sent[0]?.id)],
    ]) {
      const refused = await run(['repo', ...args])
      assert.equal(refused.code, 1)
      assert.match(refused.stderr, /^promptledger: Repository \d+ is disconnected: connect it again with [^\n]+\n$/)
    }
    const back = await json<Connected>(connectArguments(git))
    assert.deepEqual([back.id, back.prompts, back.entries], [id, prompts, 5])
  })

  test('takes a token and a secret of your own from the environment, and shows neither anywhere', async () => {
    const git = newRemote()
    const secrets = { MY_TOKEN: 'ghp_SECRETTOKEN0123456789', MY_SECRET: 'a secret of my own' }
    const args = connectArguments(git, '--token-env', 'MY_TOKEN', '--secret-env', 'MY_SECRET')
    const connected = await json<Connected>(args, secrets)
    assert.equal(connected.webhook_secret, secrets.MY_SECRET)
    assert.equal(await deliver(connected, git), 202)
    const listed = await run(['repo', 'list', '--json'])
    const rows = JSON.stringify(await queryRows(command.url(), 'select * from repositories'))
    for (const secret of Object.values(secrets)) {
      for (const text of [listed.stdout, rows, command.output().stdout, command.output().stderr]) {
        assert.ok(!text.includes(secret))
      }
    }
  })
})

// What is printed does not depend on the engine.
describe('What the command repo prints', () => {
  const { json, run, connectArguments, deliver } = useCommand(sqlite)

  test('tells people what happened and what to do next', async () => {
    const git = newRemote()
    const say = async (...args: string[]) => {
      const { code, stdout, stderr } = await run(args)
      assert.deepEqual([code, stderr], [0, ''], args.join(' '))
      return stdout
    }
    const connected = await say(...connectArguments(git))
    const [, id = ''] = /^Connected repository (\d+), .+: 2 prompts, 3 entries\n/.exec(connected) ?? []
    assert.notEqual(id, '', connected)
    assert.match(connected, /\n {2}Webhook address {2}http:\S+\/webhooks\/\w{24}\n {2}Webhook secret {3}[0-9a-f]{64}\n/)
    assert.match(
      connected,
      /shown only this once[\s\S]*\n {2}1\. Open [\s\S]*\n {2}2\. [\s\S]*\n {2}3\. [\s\S]*\n {2}4\. /,
    )
    assert.match(await say('repo', 'deliveries', id), /^Nothing was delivered yet: see promptledger repo list/)
    const [, webhook_url = ''] = /Webhook address {2}(\S+)/.exec(connected) ?? []
    const [, webhook_secret = ''] = /Webhook secret {3}(\S+)/.exec(connected) ?? []
    assert.equal(await deliver({ id: 0, webhook_url, webhook_secret, prompts: [], entries: 0 }, git), 202)
    await until(async () => (await say('repo', 'deliveries', id)).includes(' done '))
    const sent = await say('repo', 'deliveries', id)
    assert.match(
      sent,
      /^id +event +state +attempts +error +received_at +finished_at\n\d+ +push +done +1 +- +2\S+Z +2\S+Z\n$/,
    )
    assert.match(
      await say('repo', 'redeliver', sent.split('\n')[1]?.split(' ')[0] as string),
      /^Delivery \d+ is done\n$/,
    )
    assert.equal(await say('repo', 'sync', id), `Synced repository ${id}: 0 new entries\n`)
    const listed = (await say('repo', 'list')).split('\n')
    assert.match(listed[0] as string, /^id +forge +url +path +state +last_delivery_at +last_sync_at +last_error$/)
    const row = listed.find((line) => line.startsWith(`${id} `))
    assert.match(row as string, /^\d+ +github +\S+ +prompts\/\*\* +following +2\S+Z +2\S+Z +-$/)
    assert.match(
      await say('repo', 'rotate-secret', id),
      /^[0-9a-f]{64}\nKeep it now: [^\n]+ The old secret works until \S+Z\.\n$/,
    )
    assert.match(await say('repo', 'disconnect', id), /^Disconnected repository \d+, [^\n]+ history stay\.\n$/)
    const empty = await json<{ id: number }>(['org', 'create', 'Empty'])
    assert.match(await say('repo', 'list', '--org', String(empty.id)), /^There are no repositories: connect one with/)
  })

  test('says what is wrong: 2 for a wrong call, 1 for what cannot be done', async () => {
    const git = newRemote()
    const right = connectArguments(git)
    const instead = (name: string, value: string) => right.with(right.indexOf(name) + 1, value)
    const without = (name: string) => right.toSpliced(right.indexOf(name), 2)
    const wrong: [string[], number, RegExp][] = [
      [without('--org'), 2, /required option '--org <id>' not specified/],
      [without('--forge'), 2, /required option '--forge <forge>' not specified/],
      [without('--url'), 2, /required option '--url <address>' not specified/],
      [without('--path'), 2, /required option '--path <glob>' not specified/],
      [instead('--forge', 'svn'), 2, /Allowed choices are github, gitlab, gitea, forgejo, bitbucket/],
      [instead('--org', 'acme'), 2, /Must be a positive integer/],
      [[...right, '--similarity', '0'], 2, /Must be a positive integer/],
      [['repo', 'sync'], 2, /missing required argument 'repo-id'/],
      [['repo', 'sync', 'x'], 2, /Must be a positive integer/],
      [['repo', 'rotate-secret', '1', '--overlap', '1y'], 2, /must be a number and a unit: 30m, 24h or 90d/],
      [['repo', 'disconect', '1'], 2, /Did you mean disconnect\?/],
      [
        instead('--org', '999999'),
        1,
        /^promptledger: There is no organisation 999999\. See 'promptledger org list'\.\n$/,
      ],
      [
        instead('--url', 'ext::sh -c id'),
        1,
        /^promptledger: url must be an https:\/\/, ssh:\/\/ or git@host:path address\n$/,
      ],
      [instead('--url', '/nowhere/at/all'), 1, /^promptledger: url cannot be read: [^\n]+\n$/],
      [instead('--path', '/etc/*'), 1, /^promptledger: path must be relative to the root[^\n]+\n$/],
      [[...right, '--similarity', '101'], 1, /^promptledger: similarity must be a whole number from 1 to 100\n$/],
      [[...right, '--token-env', 'NO_SUCH'], 1, /^promptledger: The environment variable NO_SUCH is not set\.\n$/],
      [['repo', 'list', '--org', '999999'], 1, /^promptledger: There is no organisation 999999/],
      [
        ['repo', 'deliveries', '999999'],
        1,
        /^promptledger: There is no repository 999999\. See 'promptledger repo list'\.\n$/,
      ],
      [['repo', 'redeliver', '999999'], 1, /^promptledger: There is no delivery 999999\. See [^\n]+\n$/],
      [['repo', 'disconnect', '999999'], 1, /^promptledger: There is no repository 999999/],
    ]
    const outcomes = await Promise.all(wrong.map(([args]) => run(args)))
    for (const [i, { code, stdout, stderr }] of outcomes.entries()) {
      const [args, status, message] = wrong[i] as (typeof wrong)[0]
      assert.equal(code, status, `${args.join(' ')}: ${stderr}`)
      assert.match(stderr, message)
      assert.equal(stdout, '')
    }
    await json(right)
    const again = await run(right)
    assert.equal(again.code, 1)
    assert.match(
      again.stderr,
      /^promptledger: This repository is connected already, with the same path\. If its secret is lost, rotate it\.\n$/,
    )
  })
})

describe('The key that secrets are stored with', () => {
  test('is made once beside an embedded database, for its owner alone to read', async () => {
    const database = await sqlite.create()
    const env = { DATABASE_URL: database.url }
    const file = join(database.url.slice('sqlite:'.length), '..', 'secret.key')
    const { id } = parsed<{ id: number }>(await runCli(env, ['org', 'create', 'Acme', '--json']))
    const git = newRemote()
    const connect = (path: string) =>
      runCli(env, [
        'repo',
        'connect',
        '--org',
        String(id),
        '--forge',
        'github',
        '--url',
        git.remote,
        '--path',
        path,
        '--json',
      ])
    // Whoever comes second has to find the key of the first: each could not read what the other stored.
    const made = await Promise.all(['prompts/p.md', 'prompts/q.md'].map(connect))
    for (const finished of made) parsed(finished)
    const key = readFileSync(file, 'utf8')
    assert.match(key, /^[0-9a-f]{64}\n$/)
    assert.equal(statSync(file).mode & 0o777, 0o600)
    assert.deepEqual(
      readdirSync(join(file, '..')).filter((name) => name.startsWith('secret.key')),
      ['secret.key'],
    )
    const service = await startServe(env)
    for (const finished of made) {
      const { webhook_url, webhook_secret } = parsed<Connected>(finished)
      const { headers, body } = deliveriesFrom('github', webhook_secret).ping()
      const url = service.address + new URL(webhook_url).pathname
      assert.equal((await fetch(url, { method: 'POST', headers, body: new Uint8Array(body) })).status, 202)
    }
    await service.stop()
    assert.equal(readFileSync(file, 'utf8'), key)
    await database.remove()
  })

  test('has to be given beside PostgreSQL, and whoever connects without it is told how', async () => {
    const database = await postgres.create()
    const folder = await mkdtemp(join(tmpdir(), 'promptledger-data-'))
    const env = { DATABASE_URL: database.url, DATA_DIR: folder }
    const { id } = parsed<{ id: number }>(await runCli(env, ['org', 'create', 'Acme', '--json']))
    const args = [
      'repo',
      'connect',
      '--org',
      String(id),
      '--forge',
      'github',
      '--url',
      newRemote().remote,
      '--path',
      '*',
    ]
    const { code, stdout, stderr } = await runCli(env, args)
    assert.deepEqual([code, stdout], [1, ''])
    assert.match(
      stderr,
      /^promptledger: PROMPTLEDGER_SECRET_KEY must be set to store secrets: [^\n]*openssl rand -hex 32'\n$/,
    )
    assert.ok(!existsSync(join(folder, 'secret.key')))
    assert.deepEqual(await queryRows(database.url, 'select * from repositories'), [])
    const wrong = await runCli({ ...env, PROMPTLEDGER_SECRET_KEY: 'short' }, args)
    assert.equal(wrong.code, 1)
    assert.match(wrong.stderr, /PROMPTLEDGER_SECRET_KEY must be 32 bytes/)
    await database.remove()
    await rm(folder, { recursive: true })
  })
})
