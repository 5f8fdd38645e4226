import assert from 'node:assert/strict'
import { chmodSync, existsSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { createServer, type IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, afterEach, before, beforeEach, describe, type TestContext, test } from 'node:test'
import { createAccount } from '../../../testing/account.ts'
import { type CliResult, runCli, runCliJson } from '../../../testing/cli.ts'
import { sqlite } from '../../../testing/engines.ts'
import { freePort } from '../../../testing/free-port.ts'
import { type RunningProcess, startServe } from '../../../testing/processes.ts'
import { noTerminal, runInTerminal } from '../../../testing/terminal.ts'

describe('Logging in to a service', () => {
  let service: RunningProcess
  let key: string
  let ingestKey: string
  let home: string
  let env: NodeJS.ProcessEnv
  let file: string
  before(async () => {
    const { url } = await sqlite.create()
    const account = await createAccount(url, 'free')
    key = account.key
    const create = ['key', 'create', '--org', String(account.organisationId), '--role', 'ingest']
    ingestKey = (await runCliJson<{ key: string }>(url, create)).key
    service = await startServe({ DATABASE_URL: url })
  })
  beforeEach(async () => {
    home = await mkdtemp(join(tmpdir(), 'promptledger-home-'))
    // The settings of the service are wrong on purpose: these commands do not read them.
    env = { HOME: home, XDG_CONFIG_HOME: join(home, 'xdg'), DATABASE_URL: 'mysql://nowhere', PORT: 'high' }
    file = join(home, 'xdg', 'promptledger', 'login.json')
  })
  afterEach(() => rm(home, { recursive: true, force: true }))
  after(() => service.stop())

  const run = (args: string[], input?: string, more: NodeJS.ProcessEnv = {}) => runCli({ ...env, ...more }, args, input)
  const login = (input = `${key}\n`): Promise<CliResult> => run(['login', service.address], input)

  test('the key is read from standard input, checked, and stored for the user only', async () => {
    const { code, stdout, stderr } = await login()
    assert.equal(code, 0, stderr)
    assert.match(stdout, /^Logged in to free at http:\/\/127\.0\.0\.1:\d+ with the key "load" \(admin/)
    assert.ok(!(stdout + stderr).includes(key))
    assert.equal(statSync(file).mode & 0o777, 0o600)
    assert.equal(statSync(join(home, 'xdg', 'promptledger')).mode & 0o777, 0o700)
    assert.deepEqual(JSON.parse(readFileSync(file, 'utf8')), { url: service.address, key })
    assert.match((await run(['prompts'])).stdout, /support/)
  })

  test('the key is asked for on a terminal, where it is not shown', { skip: noTerminal }, async () => {
    const type = { after: /API key: $/, text: `${key}x\u007f\r` }
    const { code, output } = await runInTerminal(['login', service.address], { env, type })
    assert.equal(code, 0, output)
    assert.match(output, /API key: \r?\n.*Logged in/s)
    assert.ok(!output.includes(key.slice(4, 20)), 'the terminal shows the key')
    assert.equal(JSON.parse(readFileSync(file, 'utf8')).key, key)
  })

  test('Ctrl-C at the prompt ends with 130 and stores nothing', { skip: noTerminal }, async () => {
    const type = { after: /API key: $/, text: 'plk_half\u0003' }
    const { code, output } = await runInTerminal(['login', service.address], { env, type })
    assert.equal(code, 130, output)
    assert.equal(existsSync(file), false)
  })

  test('the key can come from PROMPTLEDGER_KEY, and never from an argument', async () => {
    assert.equal((await run(['login', service.address], '', { PROMPTLEDGER_KEY: key })).code, 0)
    assert.equal((await run(['login', service.address, key], '')).code, 2)
    assert.equal((await run(['login', service.address, '--key', key], '')).code, 2)
  })

  test('a key that the service rejects, or that may not read, is not stored, and an earlier login stays', async () => {
    await login()
    const stored = readFileSync(file, 'utf8')
    for (const [input, reason] of [
      [`plk_${'x'.repeat(49)}`, /rejects the key: it is mistyped, revoked or expired/],
      [ingestKey, /role reader, standard or admin/],
    ] as const) {
      const { code, stderr } = await login(input)
      assert.equal(code, 3)
      assert.match(stderr, reason)
      assert.ok(!stderr.includes(input))
    }
    assert.equal((await login('')).code, 1)
    assert.equal((await login('two words')).code, 1)
    assert.equal(readFileSync(file, 'utf8'), stored)
  })

  test('without a login, every command says how to log in and exits with 3', async () => {
    const commands = ['prompts', 'log', 'log x', 'show x@1', 'diff x@1 2', 'impact x', 'regressions', 'signals tail x']
    for (const command of commands) {
      const { code, stdout, stderr } = await run(command.split(' '))
      assert.equal(code, 3, command)
      assert.equal(stdout, '')
      assert.match(stderr, /^promptledger: Not logged in\. Run 'promptledger login <url>'/)
    }
  })

  test('logout deletes the key', async () => {
    await login()
    assert.match((await run(['logout'])).stdout, /^Logged out of http:.*stays valid until it is revoked/)
    assert.equal(existsSync(file), false)
    assert.match((await run(['logout'])).stdout, /^Not logged in\.$/m)
  })

  test('a file that others can read is reported, and a damaged one too', async () => {
    await login()
    chmodSync(file, 0o644)
    const { code, stderr } = await run(['prompts'])
    assert.equal(code, 0)
    assert.match(stderr, /^Warning: Other users can read the key in .*login\.json\. Run: chmod 600/)
    await login()
    assert.equal(statSync(file).mode & 0o777, 0o600)
    writeFileSync(file, '{"url":')
    const damaged = await run(['prompts'])
    assert.equal(damaged.code, 3)
    assert.match(damaged.stderr, /login\.json is damaged\. Run 'promptledger login <url>'/)
  })

  test('without XDG_CONFIG_HOME, or with a relative one, the login is in ~/.config', async () => {
    for (const folder of [undefined, 'relative']) {
      const changed = { HOME: home, ...(folder && { XDG_CONFIG_HOME: folder }) }
      assert.equal((await runCli(changed, ['login', service.address], key)).code, 0)
      assert.ok(existsSync(join(home, '.config', 'promptledger', 'login.json')))
      assert.equal(existsSync('relative'), false)
      assert.equal((await runCli(changed, ['logout'])).code, 0)
    }
  })

  test('a URL without http:// or with a password is rejected with what to change', async () => {
    const scheme = await run(['login', 'ledger.example.com'], key)
    assert.equal(scheme.code, 1)
    assert.match(scheme.stderr, /such as https:\/\/ledger\.example\.com/)
    const password = await run(['login', service.address.replace('//', '//me:hunter2@')], key)
    assert.equal(password.code, 1)
    assert.match(password.stderr, /Remove the user name and password/)
    assert.doesNotMatch(password.stderr, /hunter2/)
    assert.equal(existsSync(file), false)
  })

  test('a warning says that a key would cross the Internet in clear text, before it is sent', async () => {
    const { code, stderr } = await run(['login', 'http://ledger.invalid'], key)
    assert.equal(code, 5)
    assert.match(stderr, /^Warning: http:\/\/ledger\.invalid is not encrypted/)
    assert.doesNotMatch((await login()).stderr, /Warning/)
  })

  test('the key of a login is never sent to another URL', async (t) => {
    await login()
    const other = await startRecorder(t, (_, response) => response.writeHead(200).end('{}'))
    const { code, stderr } = await run(['prompts', '--url', other.url])
    assert.equal(code, 3)
    assert.match(stderr, /There is no key for http:.* Run 'promptledger login http:/)
    assert.equal((await run(['prompts'], '', { PROMPTLEDGER_URL: other.url })).code, 3)
    assert.equal(other.requests.length, 0)
    const withKey = { PROMPTLEDGER_URL: service.address, PROMPTLEDGER_KEY: key }
    assert.equal((await run(['logout'])).code, 0)
    assert.match((await run(['prompts'], '', withKey)).stdout, /support/)
  })

  test('a redirect does not take the key elsewhere', async (t) => {
    const elsewhere = await startRecorder(t, (_, response) => response.writeHead(200).end('{}'))
    const redirecting = await startRecorder(t, (request, response) =>
      response.writeHead(301, { location: `${elsewhere.url}${request.url}` }).end(),
    )
    const { code, stderr } = await run(['login', redirecting.url], key)
    assert.equal(code, 5)
    assert.match(stderr, /redirects elsewhere, and the key is not sent along/)
    assert.equal(redirecting.requests.length, 1)
    assert.equal(elsewhere.requests.length, 0)
  })

  test('another server, and one that is away, are reported with 5', async (t) => {
    const other = await startRecorder(t, (_, response) => response.writeHead(200).end('<html>'))
    const wrong = await run(['login', other.url], key)
    assert.equal(wrong.code, 5)
    assert.match(wrong.stderr, /not JSON|did not respond like Promptledger/)
    const away = await run(['login', `http://127.0.0.1:${await freePort()}`], key)
    assert.equal(away.code, 5)
    assert.match(away.stderr, /Cannot reach the service at http:\/\/127\.0\.0\.1:\d+: .*ECONNREFUSED/)
  })
})

type Respond = Parameters<typeof createServer>[1]

/** A server that notes what it is asked. */
async function startRecorder(t: TestContext, respond: NonNullable<Respond>) {
  const requests: IncomingMessage[] = []
  const server = createServer((request, response) => {
    requests.push(request)
    respond(request, response)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  t.after(() => server.close())
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, requests }
}
