import assert from 'node:assert/strict'
import { existsSync, statSync } from 'node:fs'
import { mkdtemp, readdir, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { runCli } from '../../../testing/cli.ts'
import { startServe } from '../../../testing/processes.ts'

describe('The CLI on a path without a database', () => {
  let folder: string
  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'promptledger-missing-'))
  })
  after(() => rm(folder, { recursive: true, force: true }))

  test('every command except serve, migrate and restore fails, says what to do and creates nothing', async () => {
    const commands = [
      'org list',
      'org create Acme',
      'org set-plan 1 team',
      'key create --org 1',
      'key list --org 1',
      'key revoke 1',
      'prompt create --org 1 --name a.md',
      'segments get --org 1',
      'history record a.md --action deployed --user-name a --user-email a@b.c --commit abcdef --branch main',
      'deployment list --repo 1',
      'repo list',
      'repo connect --org 1 --forge github --url https://github.com/a/b.git --path *.md',
      'alert list --org 1',
      'import history a.md',
      'import signals a.md',
      `import organisation ${join(folder, 'none.gz')}`,
      `export --org 1 ${join(folder, 'org.gz')}`,
      `backup ${join(folder, 'all.gz')}`,
      'audit --org 1',
      'audit verify',
      'secret-key rotate',
    ]
    const path = join(folder, 'mistyped', 'promptledger.db')
    for (const command of commands) {
      const { code, stdout, stderr } = await runCli({ DATABASE_URL: `sqlite:${path}` }, command.split(' '), '')
      assert.equal(code, 1, command)
      assert.equal(stdout, '', command)
      assert.equal(
        stderr,
        `promptledger: There is no database at ${path}. Start the service first, or check DATABASE_URL.\n`,
      )
    }
    const { code, stdout } = await runCli({ DATABASE_URL: `sqlite:${path}` }, ['doctor'])
    assert.equal(code, 1)
    assert.match(stdout, /^error {4}database: .*does not exist/m)
    assert.match(stdout, /^warning {2}secret key: not checked/m)
    assert.match(stdout, /^warning {2}data directory: .*mistyped does not exist/m)
    assert.deepEqual(await readdir(folder), [])
  })

  test('the message names the whole path of a relative one', async () => {
    const { stderr } = await runCli({ DATABASE_URL: 'sqlite:no-such-folder/x.db' }, ['org', 'list'])
    assert.match(stderr, /There is no database at \/.*\/no-such-folder\/x\.db\./)
  })

  test('serve creates the file and its folders, which the other commands then use', async () => {
    const env = { DATABASE_URL: `sqlite:${join(folder, 'a', 'b', 'new.db')}`, PROMPTLEDGER_FIRST_RUN: 'off' }
    const service = await startServe(env)
    assert.equal((await runCli(env, ['org', 'create', 'Acme'])).code, 0)
    const backup = join(folder, 'backup.gz')
    assert.equal((await runCli(env, ['backup', backup])).code, 0)
    await service.stop()
    const restored = { DATABASE_URL: `sqlite:${join(folder, 'restored', 'new.db')}` }
    assert.equal((await runCli(restored, ['restore', backup])).code, 0)
    assert.match((await runCli(restored, ['org', 'list'])).stdout, /Acme/)
  })

  test('migrate creates the file and its folders, like any start', async () => {
    const env = { DATABASE_URL: `sqlite:${join(folder, 'migrated', 'new.db')}` }
    assert.match((await runCli(env, ['migrate'])).stdout, /^The database is at version \d+\.\n$/)
    assert.equal((await runCli(env, ['org', 'create', 'Acme'])).code, 0)
  })

  test('an empty file is an empty database, as it is on PostgreSQL', async () => {
    const path = join(folder, 'empty.db')
    await writeFile(path, '')
    assert.equal((await runCli({ DATABASE_URL: `sqlite:${path}` }, ['org', 'create', 'Acme'])).code, 0)
  })

  test('a database that is missing or empty beside its key is not replaced by a new one, except by a restore', async () => {
    const data = join(folder, 'lost')
    const path = join(data, 'promptledger.db')
    const env = { DATABASE_URL: `sqlite:${path}` }
    assert.equal((await runCli(env, ['migrate'])).code, 0)
    const backup = join(folder, 'lost.gz')
    assert.equal((await runCli(env, ['backup', backup])).code, 0)
    const key = join(data, 'secret.key')
    await writeFile(key, '11'.repeat(32))
    const states = { 'does not exist': () => rm(path), 'is empty': () => writeFile(path, '') }
    for (const [state, lose] of Object.entries(states)) {
      await lose()
      for (const command of ['serve --port 0', 'migrate', 'org create Acme']) {
        const { code, stderr } = await runCli(env, command.split(' '))
        assert.equal(code, 1, command)
        assert.ok(stderr.startsWith(`promptledger: The database ${path} ${state}, but its key ${key} does`), stderr)
      }
      assert.equal(existsSync(path), state === 'is empty')
      assert.ok(!existsSync(path) || statSync(path).size === 0)
      const { stdout } = await runCli(env, ['doctor'])
      assert.match(stdout, /^error {4}database: .*, but its key .* does/m)
    }
    assert.equal((await runCli(env, ['restore', backup])).code, 0)
    assert.equal((await runCli(env, ['org', 'create', 'Acme'])).code, 0)
  })

  test('a folder that the system does not allow is reported instead of waiting forever', {
    skip: !existsSync('/proc/self') && 'needs /proc',
    timeout: 240_000,
  }, async () => {
    const env = { DATABASE_URL: 'sqlite:/proc/x/y/z.db' }
    const list = await runCli(env, ['org', 'list'])
    assert.match(list.stderr, /There is no database at \/proc\/x\/y\/z\.db/)
    const serve = await runCli(env, ['serve', '--port', '0'])
    assert.equal(serve.code, 1)
    assert.match(
      serve.stderr,
      /^promptledger: Cannot open the database file \/proc\/x\/y\/z\.db, which DATABASE_URL names: [^\n]+\n$/,
    )
    const beside = { DATABASE_URL: `sqlite:${join(folder, 'beside.db')}`, DATA_DIR: '/proc/x/y' }
    const withoutKey = await runCli(beside, ['serve', '--port', '0'])
    assert.equal(withoutKey.code, 1)
    assert.match(
      withoutKey.stderr,
      /^promptledger: Cannot create \/proc\/x\/y\/secret\.key: [^\n]+\. Check DATA_DIR\n$/,
    )
  })
})
