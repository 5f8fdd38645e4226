import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { renameSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { before, test } from 'node:test'
import { settingFields } from '../../../contract/repositories.ts'
import { onTestEnd } from '../../../testing/cleanup.ts'
import { runCli } from '../../../testing/cli.ts'
import { onOneEngine } from '../../../testing/engines.ts'
import { GitHttpServer } from '../../../testing/git-http.ts'
import { GitRepository } from '../../../testing/git-repository.ts'

const secrets = { FIRST: 'first-token-0123456789', SECOND: 'second-token-0123456789' }

onOneEngine('repo update, set-url and set-token', (engine) => {
  let env: NodeJS.ProcessEnv
  let org = ''
  before(async () => {
    const dataDir = await mkdtemp(join(tmpdir(), 'promptledger-data-'))
    onTestEnd(() => rm(dataDir, { recursive: true }))
    const { url } = await engine.create()
    env = { DATABASE_URL: url, DATA_DIR: dataDir, PROMPTLEDGER_SECRET_KEY: randomBytes(32).toString('hex'), ...secrets }
    org = String(JSON.parse((await run('org', 'create', 'Acme', '--json')).stdout).id)
  })
  const run = (...args: string[]) => runCli(env, args)

  /** Connects the URL, and returns the id of the repository and the warnings. */
  async function connect(url: string, ...more: string[]): Promise<{ id: string; warnings: string }> {
    const args = ['--org', org, '--forge', 'github', '--url', url, '--path', 'prompts/**', '--json', ...more]
    const { code, stdout, stderr } = await run('repo', 'connect', ...args)
    assert.equal(code, 0, stderr)
    const { id, warnings } = JSON.parse(stdout)
    assert.equal(stderr, warnings.map((warning: string) => `Warning: ${warning}\n`).join(''))
    return { id: String(id), warnings: stderr }
  }

  function createRemote(text = 'Be kind.\n'): GitRepository {
    const git = new GitRepository()
    git.commit('Start', { 'prompts/p.md': text })
    git.push()
    return git
  }

  async function problemOf(id: string): Promise<string | undefined> {
    const { stdout } = await run('repo', 'list')
    return stdout.split('\n').find((line) => line.startsWith(`Repository ${id} `))
  }

  test('repo update changes every setting that the API has, several at once, and the URL', async () => {
    const git = createRemote()
    const { id } = await connect(git.remote, '--reports-on-pulls', 'off')
    const options = Object.keys(settingFields).map((name) => `--${name.replaceAll('_', '-')}`)
    const help = (await run('repo', 'update', '--help')).stdout
    assert.deepEqual(
      options.filter((option) => !help.includes(option)),
      [],
    )
    const both = ['--production-environments', 'prod-*', 'live', '--reports-on-pulls', 'on']
    const changed = await run('repo', 'update', id, ...both)
    assert.equal(changed.code, 0, changed.stderr)
    assert.equal(changed.stdout, `Repository ${id}, ${git.remote}, is changed.\n`)
    const settings = async (...args: string[]) => {
      const body = JSON.parse((await run('repo', 'update', id, ...args, '--json')).stdout)
      return [body.production_environments, body.reports_on_pulls]
    }
    assert.deepEqual(await settings('--url', git.remote), [['prod-*', 'live'], true])
    assert.deepEqual(await settings('--production-environments', 'none'), [[], true])
    assert.deepEqual(await settings('--production-environments', 'default'), [null, true])
    assert.deepEqual(await settings('--reports-on-pulls', 'off'), [null, false])
    const nothing = await run('repo', 'update', id)
    assert.deepEqual([nothing.code, nothing.stderr], [2, 'error: pass what to change\n'])
  })

  test('repo update finds the ID after a list of values too', async () => {
    const { id } = await connect(createRemote().remote)
    const changed = await run('repo', 'update', '--production-environments', 'prod-*', 'live', id, '--json')
    assert.equal(changed.code, 0, changed.stderr)
    const { id: changedId, production_environments: environments } = JSON.parse(changed.stdout)
    assert.deepEqual([String(changedId), environments], [id, ['prod-*', 'live']])
    const missing = await run('repo', 'update', '--production-environments', 'prod', 'live')
    assert.deepEqual([missing.code, missing.stderr], [2, "error: missing required argument 'repo-id'\n"])
  })

  test('a renamed repository is listed as failing with what to do, and set-url brings it back', async () => {
    const git = createRemote()
    const { id } = await connect(git.remote)
    assert.equal(await problemOf(id), undefined)
    const renamed = `${git.folder}/renamed.git`
    renameSync(git.remote, renamed)
    assert.equal((await run('repo', 'sync', id)).code, 1)
    const problem = `Repository ${id} is failing: git ls-remote: the repository does not exist, or the server requires a token or `
    assert.ok((await problemOf(id))?.startsWith(problem), await problemOf(id))
    assert.ok((await problemOf(id))?.endsWith(`Check its URL and its token ('repo update').`))
    const set = await run('repo', 'set-url', id, renamed)
    assert.deepEqual([set.code, set.stderr], [0, ''])
    assert.match(set.stdout, new RegExp(`^Repository ${id}, ${renamed}, is changed\\. git can read it;`))
    assert.equal(await problemOf(id), undefined)
    const synced = JSON.parse((await run('repo', 'sync', id, '--json')).stdout)
    assert.deepEqual([synced.url, synced.state, synced.new_entries], [renamed, 'following', 0])
    const other = createRemote('Something else.\n')
    const rejected = await run('repo', 'set-url', id, other.remote)
    assert.equal(rejected.code, 1)
    assert.match(
      rejected.stderr,
      /^promptledger: url must lead to the same repository: the default branch there has no/,
    )
    const missing = await run('repo', 'set-url', '999999', renamed)
    assert.match(missing.stderr, /^promptledger: There is no repository 999999\./)
  })

  test('plain http needs --allow-http, warns about a token, and set-token replaces it', async () => {
    const [git, server] = [createRemote(), await new GitHttpServer().start()]
    server.folders.set('/acme/prompts', git.remote)
    server.requireToken(secrets.FIRST)
    const url = server.url('/acme/prompts')
    const args = ['--org', org, '--forge', 'github', '--url', url, '--path', 'prompts/**', '--token-env', 'FIRST']
    const refused = await run('repo', 'connect', ...args)
    assert.match(refused.stderr, /^promptledger: url must not be plain http:\/\/, .+ --allow-http for the CLI/)
    assert.equal(server.received.length, 0)
    const { id, warnings } = await connect(url, '--token-env', 'FIRST', '--allow-http')
    assert.equal(warnings, 'Warning: The token is sent over plain http: anyone on the way to the server can read it.\n')
    server.requireToken(secrets.SECOND)
    assert.equal((await run('repo', 'sync', id)).code, 1)
    const wrong = await run('repo', 'set-token', id, '--token-env', 'FIRST')
    assert.match(
      wrong.stderr,
      /^promptledger: --token-env does not give read access: the repository does not exist, or/,
    )
    const set = await run('repo', 'set-token', id, '--token-env', 'SECOND', '--json')
    assert.equal(set.code, 0, set.stderr)
    assert.equal(JSON.parse(set.stdout).state, 'following')
    assert.equal((await run('repo', 'sync', id)).code, 0)
    const other = server.url('/acme/prompts', 'localhost')
    const bound = await run('repo', 'set-url', id, other, '--allow-http')
    assert.match(
      bound.stderr,
      /^promptledger: --token-env is required: the stored one is only sent to http:\/\/127\.0\.0\.1/,
    )
    const moved = await run('repo', 'set-url', id, other, '--allow-http', '--token-env', 'SECOND')
    assert.equal(moved.code, 0, moved.stderr)
    for (const { stdout, stderr } of [set, wrong, bound, moved]) {
      for (const secret of Object.values(secrets)) assert.ok(!`${stdout}${stderr}`.includes(secret))
    }
    const usage = await run('repo', 'set-token', id)
    assert.deepEqual([usage.code, usage.stderr], [2, "error: pass '--token-env <name>' or '--remove-token'\n"])
    const audit = await run('audit', 'list', '--org', org)
    assert.match(audit.stdout, /repository\.updated/)
  })

  test('overlapping prompt files are warned about on stderr', async () => {
    const git = createRemote()
    const { id } = await connect(git.remote)
    const args = ['--org', org, '--forge', 'github', '--url', git.remote, '--path', 'prompts/*.md']
    const { code, stderr } = await run('repo', 'connect', ...args)
    assert.equal(code, 0, stderr)
    assert.match(stderr, new RegExp(`^Warning: Repository ${id} is the same repository, and its prompt files prompts/`))
  })

  test('reports on pull requests are turned on and off, and what they need is listed', async () => {
    const server = await new GitHttpServer().start()
    server.folders.set('/acme/prompts.git', createRemote().remote)
    const connecting = ['--allow-http', '--token-env', 'FIRST', '--report-on-pulls']
    const { id } = await connect(server.url('/acme/prompts.git'), ...connecting)
    assert.equal(await problemOf(id), undefined)
    const off = await run('repo', 'set-reports', id, 'off')
    assert.match(off.stdout, /^Regressions are no longer told on the pull requests of repository \d+, /)
    const on = await run('repo', 'set-reports', id, 'on')
    assert.match(
      on.stdout,
      /^Regressions are told on the pull requests of .* Its token needs read and write access to /,
    )
    assert.equal((await run('repo', 'set-token', id, '--remove-token')).code, 0)
    assert.match(
      (await problemOf(id)) ?? '',
      /^Repository \d+ cannot be reported on: Reports on pull requests need a token /,
    )
    const listed = JSON.parse((await run('repo', 'list', '--json')).stdout)
    const [{ reports_on_pulls: reports }] = listed.filter((each: { id: number }) => String(each.id) === id)
    assert.equal(reports, true)
    assert.equal((await run('repo', 'set-reports', id, 'maybe')).code, 2)
  })
})
