// Restarts four processes behind a real nginx, one after the other under load, and prints the cost: npx node faults/rolling.ts [rounds]
// Requires nginx and openssl. The configuration is docs/operations/nginx.conf, with other ports and a certificate of its own.
import { execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { Agent, request } from 'node:https'
import { connect } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { promisify } from 'node:util'
import { type Account, createAccount } from '../testing/account.ts'
import { eventually } from '../testing/eventually.ts'
import { freePort } from '../testing/free-port.ts'
import { startPostgres } from '../testing/postgres.ts'
import { type RunningProcess, serve } from '../testing/processes.ts'
import { reconcile } from './reconcile.ts'
import { type Fate, signalRequest } from './senders.ts'

const run = promisify(execFile)
const rounds = Number(process.argv[2] ?? 5)
const processes = 4
const senders = 16
const readers = 8

const folder = await mkdtemp(join(tmpdir(), 'promptledger-rolling-'))
const postgres = await startPostgres()
const ports = await Promise.all(Array.from({ length: processes + 2 }, freePort))
const [httpPort, httpsPort] = ports.splice(processes) as [number, number]
const serveOn = (port: number) => serve(postgres.url, {}, port)
const services = await Promise.all(ports.map(serveOn))
const nginx = await startNginx()
const agent = new Agent({ keepAlive: true, maxSockets: senders + readers, rejectUnauthorized: false })

for (const drain of [false, true]) {
  const accounts = [await createAccount(postgres.url, 'business'), await createAccount(postgres.url, 'business')]
  const load = startLoad(accounts)
  await pause(500)
  const restartsMs: number[] = []
  for (let round = 0; round < rounds; round++) {
    for (const [place, port] of ports.entries()) {
      const startedAt = performance.now()
      if (drain) {
        await nginx.reload(port)
        await pause(300)
      }
      await (services[place] as RunningProcess).stop()
      services[place] = await serveOn(port)
      if (drain) await nginx.reload(null)
      restartsMs.push(performance.now() - startedAt)
      await pause(200)
    }
  }
  await load.stop()
  const totals = await reconcile(ports[0] as number, accounts, { fates: load.fates, unexpected: [] })
  console.log({
    method: drain ? 'drained by nginx first' : 'SIGTERM alone',
    restarts: rounds * processes,
    'slowest restart, ms': Math.round(Math.max(...restartsMs)),
    responses: Object.fromEntries([...load.responses].sort()),
    ...totals,
  })
}

agent.destroy()
await nginx.stop()
for (const service of services) await service.stop()
await postgres.stop()
await rm(folder, { recursive: true })

function startLoad(accounts: Account[]) {
  const fates = new Map<number, Fate>()
  const responses = new Map<string, number>()
  let [next, stopped] = [0, false]
  const count = (name: string) => responses.set(name, (responses.get(name) ?? 0) + 1)

  async function record(): Promise<void> {
    const number = next++
    fates.set(number, 'unknown')
    const { method, path, key, body } = signalRequest(accounts[number % accounts.length] as Account, number, false)
    const result = await send(method, path, key, body)
    count(`POST ${result}`)
    if (result === '201') fates.set(number, 'stored')
  }

  async function read(): Promise<void> {
    const { key, promptId } = accounts[0] as Account
    count(`GET ${await send('GET', `/api/v1/prompts/${promptId}/history`, key)}`)
    await pause(5)
  }

  const clients = Array.from({ length: senders + readers }, async (_, i) => {
    while (!stopped) await (i < senders ? record() : read())
  })
  return {
    fates,
    responses,
    async stop() {
      stopped = true
      await Promise.all(clients)
    },
  }
}

/** The status, or the code of the connection's error. */
function send(method: string, path: string, key: string, body?: string): Promise<string> {
  return new Promise((resolve) => {
    const headers = {
      Authorization: `Bearer ${key}`,
      ...(body !== undefined && { 'Content-Type': 'application/json' }),
    }
    const sent = request({ agent, host: '127.0.0.1', port: httpsPort, method, path, headers }, (response) => {
      response.resume()
      response.on('end', () => resolve(String(response.statusCode)))
    })
    sent.on('error', (error: NodeJS.ErrnoException) => resolve(error.code ?? error.message))
    sent.end(body)
  })
}

async function startNginx() {
  const [certificate, key] = [join(folder, 'tls.crt'), join(folder, 'tls.key')]
  const keyOptions = ['-newkey', 'rsa:2048', '-nodes', '-keyout', key, '-out', certificate]
  await run('openssl', ['req', '-x509', ...keyOptions, '-subj', '/CN=ledger.example.com', '-days', '1'])
  const file = join(folder, 'nginx.conf')
  const original = readFileSync(new URL('../docs/operations/nginx.conf', import.meta.url), 'utf8')

  function write(drained: number | null): Promise<void> {
    let text = original
      .replace('listen 80;', `listen 127.0.0.1:${httpPort};`)
      .replace('listen 443 ssl', `listen 127.0.0.1:${httpsPort} ssl`)
      .replace('/etc/nginx/promptledger.crt', certificate)
      .replace('/etc/nginx/promptledger.key', key)
      .replace('/var/log/nginx/promptledger.log', join(folder, 'access.log'))
    for (const [i, port] of ports.entries()) {
      text = text.replace(`127.0.0.1:300${i + 1} max`, `127.0.0.1:${port} ${port === drained ? 'down ' : ''}max`)
    }
    return writeFile(file, text)
  }

  await write(null)
  const globals = `daemon off; pid ${join(folder, 'nginx.pid')}; error_log ${join(folder, 'error.log')};`
  const child = spawn('nginx', ['-p', folder, '-c', file, '-g', globals], { stdio: ['ignore', 'inherit', 'inherit'] })
  process.once('exit', () => child.kill('SIGKILL'))
  await eventually(async () => {
    const socket = connect(httpsPort, '127.0.0.1')
    await once(socket, 'connect')
    socket.destroy()
  })
  return {
    /** Takes the process on this port out of rotation, or all back in. */
    async reload(drained: number | null) {
      await write(drained)
      child.kill('SIGHUP')
    },
    async stop() {
      child.kill('SIGQUIT')
      await once(child, 'exit')
    },
  }
}
