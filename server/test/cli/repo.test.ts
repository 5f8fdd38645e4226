import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { before, describe, test } from 'node:test'
import type { ConnectedBody } from '../../../contract/repositories.ts'
import { onTestEnd } from '../../../testing/cleanup.ts'
import { type CliResult, runCli } from '../../../testing/cli.ts'
import { type Engine, onOneEngine, sqlite, type TestDatabase } from '../../../testing/engines.ts'
import { eventually } from '../../../testing/eventually.ts'
import { GitRepository } from '../../../testing/git-repository.ts'
import { deliveriesFrom } from '../../../testing/payloads/deliveries.ts'
import { type RunningProcess, startServe } from '../../../testing/processes.ts'
import { queryRows } from '../../../testing/rows.ts'
import { createSshKey, noSshd, Sshd } from '../../../testing/sshd.ts'
import { describeConnected } from '../../src/cli/repo-connect.ts'
import { sshFingerprint } from '../../src/domain/repositories/ssh-key.ts'

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
  'unread_pulls_below',
  'webhook_url',
  'last_delivery_at',
  'rejected_deliveries',
  'last_rejected_at',
  'last_rejection',
  'last_sync_at',
  'sync_age_seconds',
  'stale',
  'last_error',
  'ssh_public_key',
  'ssh_host_key',
  'production_environments',
  'reports_on_pulls',
  'proposes_reverts',
  'opens_issues',
  'briefs_pulls',
  'report_error',
  'delivery_error',
  'created_at',
]
const deliveryFields = ['id', 'event', 'state', 'attempts', 'error', 'received_at', 'next_attempt_at', 'finished_at']

function createRemote(): GitRepository {
  const git = new GitRepository()
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

/** Starts a service for the tests of the surrounding suite, and runs the CLI against the same database. */
function useCli(engine: Engine) {
  let database: TestDatabase
  let service: RunningProcess
  let env: NodeJS.ProcessEnv
  let org = ''
  let headers: Record<string, string>
  before(async () => {
    database = await engine.create()
    const dataDir = await mkdtemp(join(tmpdir(), 'promptledger-data-'))
    onTestEnd(() => rm(dataDir, { recursive: true }))
    env = {
      DATABASE_URL: database.url,
      DATA_DIR: dataDir,
      PROMPTLEDGER_FIRST_RUN: 'off',
      PROMPTLEDGER_SECRET_KEY: randomBytes(32).toString('hex'),
    }
    service = await startServe(env)
    env.PUBLIC_URL = service.address
    org = String((await json<{ id: number }>(['org', 'create', 'Acme'])).id)
    const { key } = await json<{ key: string }>(['key', 'create', '--org', org, '--role', 'admin'])
    headers = { authorization: `Bearer ${key}` }
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

onOneEngine('The repo commands', (engine) => {
  const command = useCli(engine)
  const { json, run, connectArguments, historyOf, deliver } = command

  test('a repository can be connected, synced, redelivered, rotated, disconnected and reconnected, and pushes appear within seconds', async () => {
    const git = createRemote()
    const connected = await json<Connected>(connectArguments(git))
    const { id, webhook_url, webhook_secret, prompts, ...rest } = connected
    assert.deepEqual(Object.keys(connected), [
      'id',
      'forge',
      'url',
      'default_branch',
      'ssh_public_key',
      'ssh_host_key',
      'webhook_url',
      'webhook_secret',
      'prompts',
      'entries',
      'warnings',
    ])
    const noKey = { ssh_public_key: null, ssh_host_key: null }
    const expected = { forge: 'github', url: git.remote, default_branch: 'main', ...noKey, entries: 3, warnings: [] }
    assert.deepEqual(rest, expected)
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
    await eventually(async () => (await historyOf(prompts[0]?.id))[0]?.commit_sha === pushed)
    // The entries are stored first.
    const sent = await eventually(async () => {
      const found = await json<{ id: number; event: string; state: string }[]>(['repo', 'deliveries', String(id)])
      assert.notEqual(found[0]?.state, 'pending')
      return found
    })
    assert.deepEqual(Object.keys(sent[0] as object), deliveryFields)
    assert.deepEqual(
      sent.map(({ event, state }) => [event, state]),
      [['push', 'done']],
    )

    // The service must not find the next commit first: its worker may sync once more, for example after a delivery during a sync.
    await eventually(async () => {
      const [row] = await queryRows(command.url(), `select lease_owner, due_at from repositories where id = ${id}`)
      assert.equal(row?.lease_owner, null)
      assert.ok(Number(row?.due_at) > Date.now() + 60_000, `due at ${row?.due_at}`)
    })
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

    const disconnected = await json<Record<string, unknown>>(['repo', 'disconnect', String(id)])
    assert.deepEqual(Object.keys(disconnected), repositoryFields)
    assert.equal(disconnected.state, 'disconnected')
    assert.equal(await deliver(rotated, git), 404)
    assert.equal((await historyOf(prompts[0]?.id)).length, 3)
    for (const args of [
      ['sync', String(id)],
      ['redeliver', String(sent[0]?.id)],
    ]) {
      const rejected = await run(['repo', ...args])
      assert.equal(rejected.code, 1)
      assert.equal(rejected.stderr, 'promptledger: This repository is disconnected. Connect it again first.\n')
    }
    const back = await json<Connected>(connectArguments(git))
    assert.deepEqual([back.id, back.prompts, back.entries], [id, prompts, 5])
  })

  test('connecting a repository without a matching file prints the nearest matches and exits with 1', async () => {
    const git = createRemote()
    const [args, path] = [connectArguments(git).slice(0, -1), 'Prompts/*.md']
    const { code, stdout, stderr } = await run([...args, path, '--json'])
    assert.equal(code, 1)
    const [warning, error] = stderr.split('\n')
    const nearest = 'Upper and lower case matter: prompts/*.md would match 2 files.'
    assert.equal(warning, `Warning: No file of the default branch matches ${path}. ${nearest}`)
    const connected = JSON.parse(stdout) as Connected
    assert.match(error ?? '', new RegExp(`^promptledger: Repository ${connected.id} is connected without prompts\\.`))
    assert.deepEqual(connected.prompts, [])
    assert.ok(connected.webhook_secret.length > 0, 'the repository is connected, and its secret is shown only now')
  })

  test('a deploy key is read from an environment variable or generated, and its public half is printed', {
    skip: noSshd,
  }, async () => {
    const [git, sshd, key] = [createRemote(), new Sshd(), createSshKey()]
    await sshd.start()
    sshd.authorise(key.publicKey)
    const url = sshd.url(git.remote)
    const args = ['repo', 'connect', '--org', command.org(), '--forge', 'github', '--url', url, '--path']
    const connected = await json<Connected & { ssh_public_key: string; ssh_host_key: string }>(
      [...args, 'prompts/p.md', '--ssh-key-env', 'MY_KEY', '--ssh-host-key', sshd.hostKey.publicKey],
      { MY_KEY: key.privateKey },
    )
    assert.deepEqual(
      [connected.entries, connected.ssh_public_key, connected.ssh_host_key],
      [2, key.publicKey, sshd.hostKey.publicKey],
    )
    const generated = await run([...args, 'prompts/q.md', '--generate-ssh-key'])
    assert.equal(generated.code, 0, generated.stderr)
    const [, id, publicKey] =
      /^Connected repository (\d+),.*Deploy key +(ssh-ed25519 \S+)\n/s.exec(generated.stdout) ?? []
    assert.ok(generated.stdout.includes(`Host key        ssh-ed25519 ${sshFingerprint(sshd.hostKey.publicKey)}`))
    assert.match(generated.stdout, /Add it to the repository on the forge, with read access only\./)
    sshd.authorise(publicKey as string)
    const synced = await json<{ state: string; new_entries: number }>(['repo', 'sync', id as string])
    assert.equal(synced.state, 'following')
    const rejected = await run([...args, '*.md', '--ssh-key-env', 'MY_KEY'], { MY_KEY: 'x' })
    assert.match(rejected.stderr, /^promptledger: --ssh-key-env must be a private key in OpenSSH's format/)
    const missing = await run([...args, '*.md', '--ssh-host-key', sshd.hostKey.publicKey])
    assert.match(missing.stderr, /^promptledger: --ssh-host-key needs --ssh-key-env or --generate-ssh-key/)
    const rows = JSON.stringify(await queryRows(command.url(), 'select * from repositories'))
    assert.ok(!rows.includes('PRIVATE KEY') && !rows.includes(key.privateKey.split('\n')[2] as string))
  })

  test('a token and a secret are read from environment variables and never shown or stored in plain text', async () => {
    const git = createRemote()
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

// The output does not depend on the engine.
describe('The output of the repo commands', () => {
  const { json, run, connectArguments, deliver } = useCli(sqlite)

  test('each repo command prints its result and the next step', async () => {
    const git = createRemote()
    const say = async (...args: string[]) => {
      const { code, stdout, stderr } = await run(args)
      assert.deepEqual([code, stderr], [0, ''], args.join(' '))
      return stdout
    }
    const connected = await say(...connectArguments(git))
    const [, id = ''] =
      /^Connected repository (\d+), [^\n]+\.\n[\s\S]*\n\nFound 2 prompts, 3 entries\.\n$/.exec(connected) ?? []
    assert.notEqual(id, '', connected)
    assert.match(connected, /\nA folder needs no webhook: [\s\S]*'promptledger repo sync \d+'/)
    assert.doesNotMatch(connected, /Webhook/)
    assert.match(await say('repo', 'deliveries', id), /^No deliveries yet\. See 'promptledger repo list --json'/)
    const repositories = await json<{ id: number; webhook_url: string }[]>(['repo', 'list'])
    const { webhook_url } = repositories.find((each) => each.id === Number(id)) ?? assert.fail()
    const [webhook_secret = ''] = (await say('repo', 'rotate-secret', id)).split('\n')
    assert.equal(await deliver({ id: 0, webhook_url, webhook_secret, prompts: [], entries: 0 }, git), 202)
    await eventually(async () => (await say('repo', 'deliveries', id)).includes(' done '))
    const sent = await say('repo', 'deliveries', id)
    assert.match(
      sent,
      /^id +event +state +attempts +error +received_at +finished_at\n\d+ +push +done +1 +- +2\S+Z +2\S+Z\n$/,
    )
    assert.match(
      await say('repo', 'redeliver', sent.split('\n')[1]?.split(' ')[0] as string),
      /^Delivery \d+ is done\.\n$/,
    )
    assert.equal(await say('repo', 'sync', id), `Synced repository ${id}: 0 new entries.\n`)
    const listed = (await say('repo', 'list')).split('\n')
    assert.match(
      listed[0] as string,
      /^id +forge +url +path +state +last_delivery_at +rejected_deliveries +last_sync_at$/,
    )
    const row = listed.find((line) => line.startsWith(`${id} `))
    assert.match(row as string, /^\d+ +github +\S+ +prompts\/\*\* +following +2\S+Z +0 +2\S+Z$/)
    assert.match(
      await say('repo', 'rotate-secret', id),
      /^[0-9a-f]{64}\nStore it now: [^\n]+ The old secret is valid until \S+Z\.\n$/,
    )
    assert.match(await say('repo', 'disconnect', id), /^Disconnected repository \d+, [^\n]+ history stay\.\n$/)
    const empty = await json<{ id: number }>(['org', 'create', 'Empty'])
    assert.match(await say('repo', 'list', '--org', String(empty.id)), /^No repositories yet\. Connect one with/)
  })

  test('connecting a repository of a forge prints the webhook, its secret and how to add it', () => {
    const url = 'https://github.com/acme/prompts.git'
    const facts = { id: 7, url, ssh_public_key: null, ssh_host_key: null, prompts: [], entries: 3 }
    const webhook = { webhook_url: 'https://l.example/webhooks/x', webhook_secret: 's', set_up: ['Open it', 'Save it'] }
    assert.equal(
      describeConnected({ ...facts, ...webhook } as unknown as ConnectedBody),
      `Connected repository 7, ${url}.

  Webhook URL     https://l.example/webhooks/x
  Webhook secret  s

The secret is not shown again. Add a webhook for instant updates (without one, the service checks hourly):

  1. Open it
  2. Save it`,
    )
  })

  test('a usage error exits with 2 and any other failure with 1, each with a reason', async () => {
    const git = createRemote()
    const valid = connectArguments(git)
    const instead = (name: string, value: string) => valid.with(valid.indexOf(name) + 1, value)
    const without = (name: string) => valid.toSpliced(valid.indexOf(name), 2)
    const failing: [string[], number, RegExp][] = [
      [without('--org'), 2, /required option '--org <id>' not specified/],
      [without('--forge'), 2, /required option '--forge <forge>' not specified/],
      [without('--url'), 2, /required option '--url <url>' not specified/],
      [without('--path'), 2, /required option '--path <glob>' not specified/],
      [instead('--forge', 'svn'), 2, /Allowed choices are github, gitlab, gitea, forgejo, bitbucket/],
      [instead('--org', 'acme'), 2, /Must be a positive integer/],
      [[...valid, '--similarity', '0'], 2, /Must be a positive integer/],
      [['repo', 'sync'], 2, /missing required argument 'repo-id'/],
      [['repo', 'sync', 'x'], 2, /Must be a positive integer/],
      [['repo', 'rotate-secret', '1', '--overlap', '1y'], 2, /Must be a number and a unit, such as 30m, 24h or 90d/],
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
      [[...valid, '--similarity', '101'], 1, /^promptledger: similarity must be a whole number from 1 to 100\n$/],
      [[...valid, '--token-env', 'NO_SUCH'], 1, /^promptledger: The environment variable NO_SUCH is not set\.\n$/],
      [['repo', 'list', '--org', '999999'], 1, /^promptledger: There is no organisation 999999/],
      [
        ['repo', 'deliveries', '999999'],
        1,
        /^promptledger: There is no repository 999999\. See 'promptledger repo list'\.\n$/,
      ],
      [['repo', 'redeliver', '999999'], 1, /^promptledger: There is no delivery 999999\. See [^\n]+\n$/],
      [['repo', 'disconnect', '999999'], 1, /^promptledger: There is no repository 999999/],
    ]
    const outcomes = await Promise.all(failing.map(([args]) => run(args)))
    for (const [i, { code, stdout, stderr }] of outcomes.entries()) {
      const [args, status, message] = failing[i] as (typeof failing)[0]
      assert.equal(code, status, `${args.join(' ')}: ${stderr}`)
      assert.match(stderr, message)
      assert.equal(stdout, '')
    }
    await json(valid)
    const again = await run(valid)
    assert.equal(again.code, 1)
    assert.match(
      again.stderr,
      /^promptledger: This repository is already connected with the same path\. If its secret is lost, rotate it\.\n$/,
    )
  })
})
