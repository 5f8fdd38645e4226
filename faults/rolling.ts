// Restarts four processes behind a real nginx, one after the other, under load, and tells what that cost: npx node faults/rolling.ts [rounds]
// Needs nginx and openssl. The configuration is docs/operations/nginx.conf, with ports and a certificate of its own.
import { execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { Agent, request } from 'node:https'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { type Account, createAccount } from '../testing/account.ts'
import { freePort } from '../testing/free-port.ts'
import { startPostgres } from '../testing/postgres.ts'
import { type RunningProcess, serve } from '../testing/processes.ts'
import { tallyUp } from './tally.ts'
import { type Fate, pause } from './voters.ts'

const run = promisify(execFile)
const rounds = Number(process.argv[2] ?? 5)
const processes = 4
const voters = 16
const readers = 8

const folder = await mkdtemp(join(tmpdir(), 'promptledger-rolling-'))
const postgres = await startPostgres()
const accounts: Account[] = [
  await createAccount(postgres.url, 'business'),
  await createAccount(postgres.url, 'business'),
]
const ports = await Promise.all(Array.from({ length: processes + 2 }, freePort))
const [plain, tls] = ports.splice(processes) as [number, number]
const running = await Promise.all(ports.map(serveOn))
const nginx = await startNginx()
const agent = new Agent({ keepAlive: true, maxSockets: voters + readers, rejectUnauthorized: false })

for (const drain of [false, true]) {
  const { fates, counts, stopped } = load()
  await pause(500)
  const slowest: number[] = []
  for (let round = 0; round < rounds; round++) {
    for (const [place, port] of ports.entries()) {
      const begun = performance.now()
      if (drain) {
        await nginx.reload(port)
        await pause(300)
      }
      await (running[place] as RunningProcess).stop()
      running[place] = await serveOn(port)
      if (drain) await nginx.reload(null)
      slowest.push(performance.now() - begun)
      await pause(200)
    }
  }
  await stopped()
  const tally = await tallyUp(ports[0] as number, accounts, { fates, wrong: [] })
  console.log({
    how: drain ? 'taken out of nginx first' : 'SIGTERM alone',
    restarts: rounds * processes,
    'longest restart, ms': Math.round(Math.max(...slowest)),
    answers: Object.fromEntries([...counts].sort()),
    ...tally,
  })
  // So that the next run has numbers of its own.
  accounts.splice(0, 2, await createAccount(postgres.url, 'business'), await createAccount(postgres.url, 'business'))
}

agent.destroy()
await nginx.stop()
for (const one of running) await one.stop()
await postgres.stop()
await rm(folder, { recursive: true })

function serveOn(port: number): Promise<RunningProcess> {
  return serve(postgres.url, {}, port)
}

function load() {
  const fates = new Map<number, Fate>()
  const counts = new Map<string, number>()
  let next = 0
  let over = false
  const count = (what: string) => counts.set(what, (counts.get(what) ?? 0) + 1)
  async function vote(): Promise<void> {
    const number = next++
    fates.set(number, 'unknown')
    const { key, promptId } = accounts[number % accounts.length] as Account
    const answer = await ask(
      'POST',
      `/api/v1/prompts/${promptId}/signals`,
      key,
      `{"value":"positive","metadata":{"number":${number}}}`,
    )
    count(`POST ${answer}`)
    if (answer === '201') fates.set(number, 'stored')
  }
  async function read(): Promise<void> {
    const { key, promptId } = accounts[0] as Account
    count(`GET ${await ask('GET', `/api/v1/prompts/${promptId}/history`, key)}`)
    await pause(5)
  }
  const all = Array.from({ length: voters + readers }, async (_, i) => {
    while (!over) await (i < voters ? vote() : read())
  })
  return {
    fates,
    counts,
    async stopped() {
      over = true
      await Promise.all(all)
    },
  }
}

function ask(method: string, path: string, key: string, body?: string): Promise<string> {
  return new Promise((resolve) => {
    const headers = {
      Authorization: `Bearer ${key}`,
      ...(body !== undefined && { 'Content-Type': 'application/json' }),
    }
    const sent = request({ agent, host: '127.0.0.1', port: tls, method, path, headers }, (response) => {
      response.resume()
      response.on('end', () => resolve(String(response.statusCode)))
    })
    sent.on('error', (error: NodeJS.ErrnoException) => resolve(error.code ?? error.message))
    sent.end(body)
  })
}

async function startNginx() {
  const [certificate, key] = [join(folder, 'tls.crt'), join(folder, 'tls.key')]
  const subject = ['-subj', '/CN=ledger.example.com', '-days', '1']
  await run('openssl', [
    'req',
    '-x509',
    '-newkey',
    'rsa:2048',
    '-nodes',
    '-keyout',
    key,
    '-out',
    certificate,
    ...subject,
  ])
  const file = join(folder, 'nginx.conf')
  const original = readFileSync(new URL('../docs/operations/nginx.conf', import.meta.url), 'utf8')
  const write = (down: number | null) => {
    let text = original
      .replace('listen 80;', `listen 127.0.0.1:${plain};`)
      .replace('listen 443 ssl', `listen 127.0.0.1:${tls} ssl`)
      .replace('/etc/nginx/promptledger.crt', certificate)
      .replace('/etc/nginx/promptledger.key', key)
      .replace('/var/log/nginx/promptledger.log', join(folder, 'access.log'))
    for (const [i, port] of ports.entries()) {
      text = text.replace(`127.0.0.1:300${i + 1} max`, `127.0.0.1:${port} ${port === down ? 'down ' : ''}max`)
    }
    return writeFile(file, text)
  }
  await write(null)
  const settings = [
    '-p',
    folder,
    '-c',
    file,
    '-g',
    `daemon off; pid ${join(folder, 'nginx.pid')}; error_log ${join(folder, 'error.log')};`,
  ]
  const child = spawn('nginx', settings, { stdio: ['ignore', 'inherit', 'inherit'] })
  await pause(500)
  if (child.exitCode !== null) throw new Error('nginx did not start')
  return {
    /** Takes a process out, or all back in. */
    async reload(down: number | null) {
      await write(down)
      child.kill('SIGHUP')
    },
    async stop() {
      child.kill('SIGQUIT')
      await once(child, 'exit')
    },
  }
}
