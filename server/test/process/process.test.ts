import assert from 'node:assert/strict'
import { execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { connect, createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { describe, test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { promptledger, promptledgerJson, sampleOf, startServe } from '../../../testing/command.ts'
import { onEachEngine, sqlite } from '../../../testing/engines.ts'
import { queryRows } from '../../../testing/service.ts'

const shell = promisify(execFile)

onEachEngine('The process', (engine) => {
  test('prints a key and two curl lines that work on the first start, and only the address on the second', async () => {
    const database = await engine.create()
    const env = { DATABASE_URL: database.url }
    const first = await startServe(env)
    const { stdout } = first.output()
    assert.match(stdout, /plk_[0-9A-Za-z]{49}/)
    const curls = stdout.split('\n').filter((line) => line.startsWith('curl '))
    assert.equal(curls.length, 2)
    const [history, signal] = await Promise.all(curls.map((line) => shell('sh', ['-c', `${line} -s`])))
    const { data } = JSON.parse(history?.stdout as string)
    assert.deepEqual([...new Set(data.map(({ action }: { action: string }) => action))].sort(), [
      'deployed',
      'pr_closed',
      'pr_merged',
      'pr_opened',
    ])
    assert.equal(JSON.parse(signal?.stdout as string).data.value, 'positive')
    assert.equal(await first.stop(), 0)
    assert.equal(first.output().stdout.match(/plk_/g)?.length, 3, 'the key stands by itself and in the two lines')

    const second = await startServe(env)
    assert.equal(second.output().stdout, `Promptledger runs on ${second.address}\n`)
    assert.equal(second.output().stderr, '')
    assert.equal(await second.stop(), 0)
    const [organisation] = await queryRows(database.url, 'select plan from organisations')
    assert.equal(organisation?.plan, 'free')
    await database.remove()
  })

  test('creates nothing on the first start with PROMPTLEDGER_FIRST_RUN=off, or where an organisation exists', async () => {
    const database = await engine.create()
    const quiet = await startServe({ DATABASE_URL: database.url, PROMPTLEDGER_FIRST_RUN: 'off' })
    await quiet.stop()
    assert.deepEqual(await queryRows(database.url, 'select * from organisations'), [])
    await promptledgerJson(database.url, ['org', 'create', 'Mine'])
    const later = await startServe({ DATABASE_URL: database.url })
    assert.equal(later.output().stdout, `Promptledger runs on ${later.address}\n`)
    await later.stop()
    assert.equal((await queryRows(database.url, 'select * from organisations')).length, 1)
    await database.remove()
  })

  test('finishes what is in flight on SIGTERM: every 201 is stored, and the exit status is 0', async () => {
    const database = await engine.create()
    const service = await startServe({ DATABASE_URL: database.url })
    const sample = sampleOf(service)
    let answered = 0
    const send = async () => {
      for (;;) {
        const response = await sample.signal().catch(() => null)
        if (response === null || response.status !== 201) return response?.status
        answered++
        if (answered === 100) stopped = service.stop()
      }
    }
    let stopped: Promise<number | null> | null = null
    const ends = await Promise.all(Array.from({ length: 16 }, send))
    const startedStopping = performance.now()
    assert.equal(await stopped, 0)
    assert.ok(performance.now() - startedStopping < 10_000)
    assert.deepEqual([...new Set(ends)], [undefined], 'a request was answered with an error')
    const [stored] = await queryRows(database.url, 'select count(*) as n from signals')
    const [usage] = await queryRows(database.url, 'select used from signal_usage')
    assert.ok(Number(stored?.n) >= answered, `${stored?.n} stored, ${answered} answered`)
    assert.equal(Number(usage?.used), Number(stored?.n))
    const [used] = await queryRows(database.url, 'select last_used_at from api_keys')
    assert.ok(Number(used?.last_used_at) > 0, 'the last use of the key was not stored')
    await database.remove()
  })

  test('signs in whoever had begun to when it was told to stop', async () => {
    const database = await engine.create()
    const service = await startServe({ DATABASE_URL: database.url })
    const { key } = sampleOf(service)
    const socket = connect(Number(new URL(service.address).port), '127.0.0.1')
    socket.write(
      `POST /api/v1/session HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${key}\r\n` +
        'Content-Type: application/json\r\nContent-Length: 2\r\n\r\n{',
    )
    await new Promise((resolve) => setTimeout(resolve, 100))
    const stopped = service.stop()
    await new Promise((resolve) => setTimeout(resolve, 200))
    socket.write('}')
    const [answer] = await once(socket, 'data')
    assert.match(String(answer), /^HTTP\/1\.1 201 /)
    assert.equal(await stopped, 0)
    await database.remove()
  })

  test('answers on SIGTERM what comes on connections that are open, and closes them; nobody new gets in', async () => {
    const database = await engine.create()
    const service = await startServe({ DATABASE_URL: database.url })
    const { key } = sampleOf(service)
    const { hostname, port } = new URL(service.address)
    const ask = `GET /api/v1/usage HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${key}\r\n\r\n`
    const clients = await Promise.all(
      Array.from({ length: 20 }, async () => {
        const socket = connect(Number(port), hostname)
        const client = { socket, received: '', ended: once(socket, 'close') }
        socket.on('data', (chunk) => {
          client.received += chunk
        })
        socket.write(ask)
        await once(socket, 'data')
        return client
      }),
    )
    const stopped = service.stop()
    while (!service.output().stderr.includes('"stopping"')) await new Promise((resolve) => setTimeout(resolve, 1))
    for (const { socket } of clients) socket.write(ask)
    for (const client of clients) {
      await client.ended
      assert.equal(client.received.split('HTTP/1.1 200 OK').length - 1, 2)
      assert.match(client.received.slice(client.received.lastIndexOf('HTTP/1.1')), /connection: close/i)
    }
    await assert.rejects(fetch(service.address))
    assert.equal(await stopped, 0)
    await database.remove()
  })

  test('stops within ten seconds although a client holds its connection open in the middle of a request', async () => {
    const database = await engine.create()
    const service = await startServe({ DATABASE_URL: database.url })
    const { connect } = await import('node:net')
    const socket = connect(Number(new URL(service.address).port), '127.0.0.1')
    socket.on('error', () => {})
    socket.write('POST /api/v1/prompts/x/signals HTTP/1.1\r\nHost: x\r\n')
    await new Promise((resolve) => setTimeout(resolve, 100))
    const start = performance.now()
    assert.equal(await service.stop(), 0)
    assert.ok(performance.now() - start < 10_000)
    await database.remove()
  })

  test('tells that it lives and that it is ready', async () => {
    const database = await engine.create()
    const service = await startServe({ DATABASE_URL: database.url })
    for (const path of ['healthz', 'readyz']) {
      assert.equal((await fetch(`${service.address}/${path}`)).status, 200, path)
    }
    await service.stop()
    await database.remove()
  })

  test('says in one line that the port is in use', async () => {
    const database = await engine.create()
    const taken = createServer()
    await new Promise<void>((resolve) => taken.listen(0, '127.0.0.1', resolve))
    const { port } = taken.address() as { port: number }
    const { code, stderr } = await promptledger({ DATABASE_URL: database.url }, ['serve', '--port', String(port)])
    assert.equal(code, 1)
    assert.match(stderr, new RegExp(`^promptledger: Cannot listen on 127.0.0.1:${port}: the port is in use; [^\n]+\n$`))
    assert.deepEqual(await queryRows(database.url, 'select * from organisations'), [], 'a key was made that nobody saw')
    taken.close()
    await database.remove()
  })
})

describe('The process', () => {
  test('ends where the start fails after it listens, with all that it has begun', async () => {
    const database = await sqlite.create()
    const { url } = database
    await promptledgerJson(url, ['migrate'])
    await queryRows(
      url,
      "create trigger refuse before insert on organisations begin select raise(abort, 'not today'); end",
    )
    const { code, stderr } = await promptledger({ DATABASE_URL: url, METRICS_PORT: '0' }, ['serve', '--port', '0'])
    assert.equal(code, 1)
    assert.match(stderr, /not today/)
    await database.remove()
  })

  test('does not share its port with a second service', async () => {
    const database = await sqlite.create()
    const { url } = database
    const service = await startServe({ DATABASE_URL: url })
    const port = new URL(service.address).port
    const { code, stderr } = await promptledger({ DATABASE_URL: url }, ['serve', '--port', port])
    assert.equal(code, 1)
    assert.match(stderr, /in use/)
    await service.stop()
    await database.remove()
  })

  test('refuses a key that is revoked while a body is on its way, whatever is logged', async () => {
    const database = await sqlite.create()
    const { url } = database
    const service = await startServe({ DATABASE_URL: url })
    const org = await promptledgerJson<{ id: number }>(url, ['org', 'create', 'Slow'])
    const key = await promptledgerJson<{ id: number; key: string }>(url, ['key', 'create', '--org', String(org.id)])
    const prompt = await promptledgerJson<{ id: string }>(url, [
      'prompt',
      'create',
      '--org',
      String(org.id),
      '--name',
      'p',
    ])
    const body = '{"value":"positive"}'
    const socket = connect(Number(new URL(service.address).port), '127.0.0.1', () =>
      socket.write(
        `POST /api/v1/prompts/${prompt.id}/signals HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer ${key.key}\r\n` +
          `Content-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n${body.slice(0, 5)}`,
      ),
    )
    await once(socket, 'connect')
    await new Promise((resolve) => setTimeout(resolve, 700))
    await promptledgerJson(url, ['key', 'revoke', String(key.id)])
    socket.write(body.slice(5))
    const [answer] = await once(socket, 'data')
    assert.match(String(answer), /^HTTP\/1\.1 401 /)
    socket.destroy()
    await service.stop()
    await database.remove()
  })

  test('started by npm start ends when npm is told to', async () => {
    const database = await sqlite.create()
    const root = fileURLToPath(new URL('../../..', import.meta.url))
    const env = { PATH: process.env.PATH, HOME: process.env.HOME, DATABASE_URL: database.url, PORT: '0' }
    const npm = spawn('npm', ['start'], { cwd: root, env, stdio: ['ignore', 'pipe', 'ignore'] })
    let output = ''
    while (!/http:\S+/.test(output)) output += (await once(npm.stdout, 'data'))[0]
    const address = /http:\S+/.exec(output)?.[0] as string
    assert.equal((await fetch(`${address}/healthz`)).status, 200)
    npm.kill('SIGTERM')
    await once(npm, 'exit')
    await assert.rejects(fetch(`${address}/healthz`))
    await database.remove()
  })

  test('says in one line that PostgreSQL cannot be reached, without the password', async () => {
    const env = { DATABASE_URL: 'postgres://me:secret@127.0.0.1:1/ledger' }
    const { code, stderr } = await promptledger(env, ['serve'])
    assert.equal(code, 1)
    assert.match(
      stderr,
      /^promptledger: Cannot use the PostgreSQL database 127.0.0.1:1\/ledger: [^\n]*ECONNREFUSED[^\n]*\n$/,
    )
    assert.doesNotMatch(stderr, /secret/)
  })

  test('says in one line that the folder of the database cannot be written to', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'promptledger-test-'))
    await writeFile(join(folder, 'file'), '')
    for (const path of [join(folder, 'file', 'deeper', 'x.db'), '/proc/x.db', folder]) {
      const { code, stderr } = await promptledger({ DATABASE_URL: `sqlite:${path}` }, ['serve'])
      assert.equal(code, 1, path)
      assert.match(stderr, /^promptledger: Cannot open the database file [^\n]+\n$/)
    }
    await rm(folder, { recursive: true })
  })

  test('keeps a database that it makes for its owner alone to read', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'promptledger-test-'))
    const service = await startServe({ DATABASE_URL: `sqlite:${folder}/p.db` })
    const names = await readdir(folder)
    assert.ok(names.includes('p.db') && names.includes('p.db-wal') && names.includes('secret.key'), names.join())
    for (const name of names) assert.equal((await stat(join(folder, name))).mode & 0o777, 0o600, name)
    await service.stop()
    await rm(folder, { recursive: true })
  })

  test('says in one line that a file is no database', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'promptledger-test-'))
    const path = join(folder, 'x.db')
    await writeFile(
      path,
      'this is not a database, but it is long enough to be looked at closely by SQLite. '.repeat(20),
    )
    const { code, stderr } = await promptledger({ DATABASE_URL: `sqlite:${path}` }, ['org', 'list'])
    assert.equal(code, 1)
    assert.match(stderr, /^promptledger: Cannot open the database file [^\n]+\n$/)
    assert.match(await readFile(path, 'utf8'), /^this is not a database/)
    await rm(folder, { recursive: true })
  })

  test('does not repeat the password of an address that it cannot read', async () => {
    const { code, stderr } = await promptledger({ DATABASE_URL: 'postgres://me:hun#ter2@h/d' }, ['org', 'list'])
    assert.equal(code, 1)
    assert.match(stderr, /DATABASE_URL must be/)
    assert.doesNotMatch(stderr, /hun|ter2/)
  })

  test('stops within ten seconds although its database is held by another process', async () => {
    const database = await sqlite.create()
    const service = await startServe({ DATABASE_URL: database.url })
    const sample = sampleOf(service)
    const holder = new DatabaseSync(database.url.slice('sqlite:'.length))
    holder.exec('begin immediate')
    const signal = sample.signal().catch(() => null)
    await new Promise((resolve) => setTimeout(resolve, 200))
    const start = performance.now()
    assert.equal(await service.stop(), 1)
    assert.ok(performance.now() - start < 10_000)
    assert.equal(await signal, null)
    holder.close()
    await database.remove()
  })

  test('reports all wrong settings at once', async () => {
    const env = { DATABASE_URL: 'mysql://x', PORT: 'high', LOG_LEVEL: 'loud', PROMPTLEDGER_FIRST_RUN: 'maybe' }
    const { code, stderr } = await promptledger(env, ['serve'])
    assert.equal(code, 1)
    for (const name of Object.keys(env)) assert.match(stderr, new RegExp(`${name} must be`))
    assert.equal(stderr.trim().split('\n').length, 1)
  })

  test('writes no key, no metadata and no body into the log, at any level', async () => {
    const database = await sqlite.create()
    const service = await startServe({ DATABASE_URL: database.url, LOG_LEVEL: 'trace' })
    const sample = sampleOf(service)
    await sample.signal('{"value":"positive","metadata":{"a":"SENSITIVE"}}')
    await sample.signal('{"value":"SENSITIVE"}')
    await sample.signal('SENSITIVE')
    const answer = await sample.history(`?page=SENSITIVE&key=${sample.key}`)
    await service.stop()
    const { stderr } = service.output()
    assert.ok(stderr.includes(answer.headers.get('x-request-id') as string), 'the request is not in the log')
    assert.doesNotMatch(stderr, /SENSITIVE|plk_/)
    for (const line of stderr.trim().split('\n')) JSON.parse(line)
    await database.remove()
  })
})
