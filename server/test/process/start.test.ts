import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, readdir, readFile, rm, stat, symlink, writeFile } from 'node:fs/promises'
import { connect, createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, type TestContext, test } from 'node:test'
import { setTimeout as delay } from 'node:timers/promises'
import { promisify } from 'node:util'
import { runCli, runCliJson } from '../../../testing/cli.ts'
import { onEachEngine, sqlite } from '../../../testing/engines.ts'
import { without } from '../../../testing/installed-tools.ts'
import { sampleClient, startServe } from '../../../testing/processes.ts'
import { queryRows } from '../../../testing/rows.ts'

const run = promisify(execFile)

async function temporaryFolder(t: TestContext): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'promptledger-test-'))
  t.after(() => rm(folder, { recursive: true, force: true }))
  return folder
}

onEachEngine('Starting the service', (engine) => {
  test('the first start prints a key and two curl commands that work; the second prints only the address', {
    skip: without('curl'),
  }, async () => {
    const { url } = await engine.createEmpty()
    const first = await startServe({ DATABASE_URL: url })
    const { stdout } = first.output()
    assert.match(stdout, /plk_[0-9A-Za-z]{49}/)
    const curls = stdout.split('\n').filter((line) => line.startsWith('curl '))
    assert.equal(curls.length, 2)
    const [history, signal] = await Promise.all(curls.map((line) => run('sh', ['-c', `${line} -s`])))
    const { data } = JSON.parse(history?.stdout as string)
    const actions = data.map(({ action }: { action: string }) => action)
    assert.deepEqual([...new Set(actions)].sort(), ['deployed', 'pr_closed', 'pr_merged', 'pr_opened'])
    assert.equal(JSON.parse(signal?.stdout as string).data.value, 'positive')
    assert.equal(await first.stop(), 0)
    assert.equal(first.output().stdout.match(/plk_/g)?.length, 3, 'the key is printed alone and in both commands')

    const second = await startServe({ DATABASE_URL: url })
    const lines = second.output().stdout.trimEnd().split('\n')
    assert.equal(lines.length, 1)
    assert.ok(lines[0]?.endsWith(second.address))
    assert.equal(second.output().stderr, '')
    assert.equal(await second.stop(), 0)
    const [organisation] = await queryRows(url, 'select plan from organisations')
    assert.equal(organisation?.plan, 'free')
  })
})

describe('Starting the service', () => {
  test('the first start creates nothing with PROMPTLEDGER_FIRST_RUN=off, or where an organisation exists, and is ready', async () => {
    const { url } = await sqlite.create()
    const quiet = await startServe({ DATABASE_URL: url, PROMPTLEDGER_FIRST_RUN: 'off' })
    for (const path of ['healthz', 'readyz']) {
      assert.equal((await fetch(`${quiet.address}/${path}`)).status, 200, path)
    }
    await quiet.stop()
    assert.deepEqual(await queryRows(url, 'select * from organisations'), [])
    await runCliJson(url, ['org', 'create', 'Mine'])
    const later = await startServe({ DATABASE_URL: url })
    assert.doesNotMatch(later.output().stdout, /plk_/)
    await later.stop()
    assert.equal((await queryRows(url, 'select * from organisations')).length, 1)
  })

  test('a port in use is reported in one line, and no key is created that the operator would never see', async (t) => {
    const { url } = await sqlite.create()
    const taken = createServer()
    t.after(() => taken.close())
    await new Promise<void>((resolve) => taken.listen(0, '127.0.0.1', resolve))
    const { port } = taken.address() as { port: number }
    const { code, stderr } = await runCli({ DATABASE_URL: url }, ['serve', '--port', String(port)])
    assert.equal(code, 1)
    assert.match(stderr, new RegExp(`^promptledger: Cannot listen on 127.0.0.1:${port}: [^\n]*in use[^\n]*\n$`))
    assert.deepEqual(await queryRows(url, 'select * from organisations'), [])
  })

  test('a start that fails after listening stops everything it started and exits with 1', async () => {
    const { url } = await sqlite.create()
    await runCliJson(url, ['migrate'])
    await queryRows(
      url,
      "create trigger fail before insert on organisations begin select raise(abort, 'no insert'); end",
    )
    const { code, stderr } = await runCli({ DATABASE_URL: url, METRICS_PORT: '0' }, ['serve', '--port', '0'])
    assert.equal(code, 1)
    assert.match(stderr, /no insert/)
  })

  test('a second service on a port or a SQLite file, by whatever path, is rejected, commands run beside the first, and a killed one leaves the file to the next', async (t) => {
    const folder = await temporaryFolder(t)
    const { url } = await sqlite.create()
    const first = await startServe({ DATABASE_URL: url })
    const { url: other } = await sqlite.create()
    const onSamePort = await runCli({ DATABASE_URL: other }, ['serve', '--port', String(first.port)])
    assert.equal(onSamePort.code, 1)
    assert.match(onSamePort.stderr, /in use/)
    const link = join(folder, 'link.db')
    await symlink(url.slice('sqlite:'.length), link)
    const rejection =
      /: promptledger: Another Promptledger service is using the database file \S+\. Stop it first\..*\n$/
    for (const same of [url, `sqlite:${link}`]) await assert.rejects(startServe({ DATABASE_URL: same }), rejection)
    await Promise.all([
      runCliJson(url, ['org', 'create', 'Beside']),
      runCliJson(url, ['backup', join(folder, 'copy.archive')]),
      runCliJson(url, ['migrate']),
    ])
    assert.equal((await fetch(`${first.address}/readyz`)).status, 200)
    await first.kill()
    assert.equal(await (await startServe({ DATABASE_URL: url })).stop(), 0)
  })

  test('an unreachable PostgreSQL is reported in one line, without the password', async () => {
    const env = { DATABASE_URL: 'postgres://me:secret@127.0.0.1:1/ledger' }
    const { code, stderr } = await runCli(env, ['serve'])
    assert.equal(code, 1)
    assert.match(stderr, /^promptledger: [^\n]*127.0.0.1:1\/ledger: [^\n]*ECONNREFUSED[^\n]*\n$/)
    assert.doesNotMatch(stderr, /secret/)
  })

  test('a database folder that cannot be written to is reported in one line', async (t) => {
    const folder = await temporaryFolder(t)
    await writeFile(join(folder, 'file'), '')
    for (const path of [join(folder, 'file', 'deeper', 'x.db'), '/proc/x.db', folder]) {
      const { code, stderr } = await runCli({ DATABASE_URL: `sqlite:${path}` }, ['serve'])
      assert.equal(code, 1, path)
      assert.match(stderr, /^promptledger: Cannot open the database file [^\n]+\n$/)
    }
  })

  test('a file that is not a database is reported in one line and left as it is', async (t) => {
    const folder = await temporaryFolder(t)
    const path = join(folder, 'x.db')
    await writeFile(path, 'this is not a database, but it is longer than a database header. '.repeat(20))
    const { code, stderr } = await runCli({ DATABASE_URL: `sqlite:${path}` }, ['org', 'list'])
    assert.equal(code, 1)
    assert.match(stderr, /^promptledger: Cannot open the database file [^\n]+\n$/)
    assert.match(await readFile(path, 'utf8'), /^this is not a database/)
  })

  test('the password in a malformed DATABASE_URL is not repeated', async () => {
    const { code, stderr } = await runCli({ DATABASE_URL: 'postgres://me:hun#ter2@h/d' }, ['org', 'list'])
    assert.equal(code, 1)
    assert.match(stderr, /DATABASE_URL must be/)
    assert.doesNotMatch(stderr, /hun|ter2/)
  })

  test('all wrong settings are reported at once, in one line', async () => {
    const env = { DATABASE_URL: 'mysql://x', PORT: 'high', LOG_LEVEL: 'loud', PROMPTLEDGER_FIRST_RUN: 'maybe' }
    const { code, stderr } = await runCli(env, ['serve'])
    assert.equal(code, 1)
    for (const name of Object.keys(env)) assert.match(stderr, new RegExp(`${name} must be`))
    assert.equal(stderr.trim().split('\n').length, 1)
  })
})

describe('The running service', () => {
  test('only the owner can read the database, the key file and the mirrors that it creates', async (t) => {
    const folder = await temporaryFolder(t)
    const service = await startServe({ DATABASE_URL: `sqlite:${folder}/p.db` })
    const names = await readdir(folder)
    assert.ok(names.includes('p.db') && names.includes('p.db-wal') && names.includes('secret.key'), names.join())
    for (const name of names) assert.equal((await stat(join(folder, name))).mode & 0o777, 0o600, name)
    await service.stop()
  })

  test('a key revoked while the request body is arriving is rejected', async (t) => {
    const { url } = await sqlite.create()
    const service = await startServe({ DATABASE_URL: url })
    const org = await runCliJson<{ id: number }>(url, ['org', 'create', 'Slow'])
    const key = await runCliJson<{ id: number; key: string }>(url, ['key', 'create', '--org', String(org.id)])
    const createPrompt = ['prompt', 'create', '--org', String(org.id), '--name', 'p']
    const prompt = await runCliJson<{ id: string }>(url, createPrompt)
    const body = '{"value":"positive"}'
    const socket = connect(Number(new URL(service.address).port), '127.0.0.1')
    t.after(() => socket.destroy())
    await once(socket, 'connect')
    socket.write(
      `POST /api/v1/prompts/${prompt.id}/signals HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer ${key.key}\r\n` +
        `Content-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n${body.slice(0, 5)}`,
    )
    // A body counts as slow after 500 ms; only then is the key checked again.
    await delay(700)
    await runCliJson(url, ['key', 'revoke', String(key.id)])
    socket.write(body.slice(5))
    const [response] = await once(socket, 'data')
    assert.match(String(response), /^HTTP\/1\.1 401 /)
    await service.stop()
  })

  test('the log holds no key, metadata or body at any level', async () => {
    const { url } = await sqlite.create()
    const service = await startServe({ DATABASE_URL: url, LOG_LEVEL: 'trace' })
    const sample = sampleClient(service)
    await sample.signal('{"value":"positive","metadata":{"a":"SENSITIVE"}}')
    await sample.signal('{"value":"SENSITIVE"}')
    await sample.signal('SENSITIVE')
    const response = await sample.history(`?page=SENSITIVE&key=${sample.key}`)
    await service.stop()
    const { stderr } = service.output()
    assert.ok(stderr.includes(response.headers.get('x-request-id') as string), 'the request is not in the log')
    assert.doesNotMatch(stderr, /SENSITIVE|plk_/)
    for (const line of stderr.trim().split('\n')) JSON.parse(line)
  })
})
