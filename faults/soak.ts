import { randomBytes } from 'node:crypto'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { mkdtemp, rm, stat } from 'node:fs/promises'
import { Agent } from 'node:http'
import { cpus, tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { pathToFileURL } from 'node:url'
import { parseArgs } from 'node:util'
import { connectRepository, webhookAt } from '../bench/installation.ts'
import { readRequest, signalRequest } from '../bench/load.ts'
import { pace } from '../bench/pace.ts'
import { bytesOf } from '../bench/size.ts'
import { createSigningKey, createVotes } from '../bench/tokens.ts'
import { findChromium, launch } from '../console/test/support/chromium.ts'
import { buildPackage } from '../packaging/build.ts'
import { armOf } from '../server/src/domain/trials/assignment.ts'
import { type Account, createAccount } from '../testing/account.ts'
import { importLines } from '../testing/cli.ts'
import { postgres, sqlite } from '../testing/engines.ts'
import { eventually } from '../testing/eventually.ts'
import { GitRepository } from '../testing/git-repository.ts'
import { startApplication } from '../testing/otlp.ts'
import { deliveriesFrom } from '../testing/payloads/deliveries.ts'
import { startPostgres } from '../testing/postgres.ts'
import { killAll, type RunningProcess, serve, spawnNode } from '../testing/processes.ts'
import { startReceiver } from '../testing/receiver.ts'
import type { EngineName } from './fault.ts'
import { send } from './http.ts'
import { signalRequest as signalWithKey } from './senders.ts'
import { checkCounts } from './trial.ts'

const usage = `Runs the whole product for as long as it is told, and prints how memory, file descriptors, disk and latency change. Exits
with 1 if a request failed, a signal was lost or a figure drifts.

npm run soak                          an hour on each engine
npm run soak -- --minutes 5           shorter
npm run soak -- --engine sqlite       on SQLite only, or on postgres only
`

const sampleSeconds = 10
const requestsPerSecond = 100
const votesPerSecond = 20
// What a process takes until its caches and heap have their size does not count as drift.
const warmUpShare = 0.25
const retentionDays = 30
const dayMs = 86_400_000

interface Sample {
  hours: number
  signals: number
  disk: number
  p50: number
  p99: number
  memory: number
  descriptors: number
  workerMemory: number
  workerDescriptors: number
}

// The exit handlers stop every process that was started.
for (const signal of ['SIGINT', 'SIGTERM']) process.once(signal, () => process.exit(1))

const { values: options } = parseArgs({
  options: { help: { type: 'boolean' }, minutes: { type: 'string', default: '60' }, engine: { type: 'string' } },
})
if (options.help) process.stdout.write(usage)
else await main()

async function main(): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), 'promptledger-soak-'))
  const server = process.env.TEST_DATABASE_URL === undefined ? await startPostgres() : null
  process.env.TEST_DATABASE_URL ??= server?.url
  let isFine = true
  try {
    await buildPackage(pathToFileURL(`${folder}/package/`))
    for (const engine of ['sqlite', 'postgres'] as const) {
      if (options.engine !== undefined && options.engine !== engine) continue
      isFine =
        (await soak(engine, await mkdtemp(join(folder, `${engine}-`)), join(folder, 'package/dist/main.js'))) && isFine
    }
  } finally {
    await killAll()
    await server?.stop()
    await rm(folder, { recursive: true, force: true })
  }
  process.exit(isFine ? 0 : 1)
}

/** Returns whether nothing failed and nothing drifts. */
async function soak(engine: EngineName, folder: string, script: string): Promise<boolean> {
  const database = await { sqlite, postgres }[engine].create()
  const { url } = database
  const secretKey = randomBytes(32)
  const env = {
    DATABASE_URL: url,
    DATA_DIR: join(folder, 'data'),
    PROMPTLEDGER_SECRET_KEY: secretKey.toString('hex'),
    ALLOW: 'local-repositories,private-alert-targets',
    PLAN_LIMITS: 'business=unlimited',
    SIGNAL_RETENTION_DAYS: String(retentionDays),
    TRUSTED_PROXIES: '127.0.0.1',
  }
  const start = (place: number) => serve(url, { ...env, DATA_DIR: join(folder, `data-${place}`) }, 0, script)
  const account = await createAccount(url, 'business')
  const signingKey = await createSigningKey(url, secretKey, account)
  const git = new GitRepository()
  const text = (version: number) => `Answer politely, version ${version}.\n`
  git.commit('Start', { 'prompts/a.md': text(0), 'prompts/b.md': text(0) })
  git.push()
  git.switchTo('candidate', 'main')
  const candidate = git.commit('Try another text', { 'prompts/b.md': 'Answer briefly.\n' })
  git.push()
  git.switchTo('main')
  const { value: repository } = await connectRepository({ engine, url, env }, account, git.remote)
  const receiver = await startReceiver()
  // The one that is measured. Others come and go beside it, where the engine allows that.
  const service = await start(0)
  let replica = engine === 'postgres' ? await start(1) : service
  const browser = await openConsole(service, account)
  const application = startApplication(service.address, account.key, 'protobuf', 'gzip')

  const agent = new Agent({ keepAlive: true })
  let retried = 0
  const api = async (method: string, path: string, body?: object) => {
    const request = { method, path: `/api/v1/${path}`, key: account.key, ...(body && { body: JSON.stringify(body) }) }
    let response = await send(agent, service.port, request)
    // A request that waits for the worker fails with it, and one that fetches may meet another fetch.
    for (; response.status === 500; retried++) {
      await pause(500)
      response = await send(agent, service.port, request)
    }
    if (response.status > 299) {
      throw new Error(`${method} ${path} was answered with ${response.status}: ${response.body}`)
    }
    return response.body === '' ? null : JSON.parse(response.body).data
  }
  await api('PATCH', 'delivery/settings', { enabled: true })
  await api('POST', 'alerts', { name: 'all', channel: 'webhook', target: receiver.url, events: ['trial.started'] })

  // The worker copies texts that go live.
  await eventually(async () => (await api('GET', 'delivery')).prompts.length === 2, { timeoutMs: 60_000 })

  let [recorded, pushed, trials, killed, voters] = [0, 0, 0, 0, 0]
  const { webhook_secret: secret } = repository
  const samples: Sample[] = []
  const startedAt = performance.now()
  const backup = join(folder, 'backup.gz')

  const jobs: [name: string, everyMs: number, run: (turn: number) => Promise<void>][] = [
    [
      'signals, history and impact',
      0,
      async () => {
        const requests = [
          ...Array(6).fill(signalRequest(account)),
          ...['history', 'impact', 'timeline'].map((path) => readRequest(account, path)),
          readRequest({ ...account, promptId: 'prompts%2Fa.md' }, 'history'),
        ]
        const load = { port: service.port, seconds: sampleSeconds, connections: 16 }
        const votes = createVotes(signingKey, account, votesPerSecond * sampleSeconds, voters)
        voters += votes.length
        const [sent, voted] = await Promise.all([
          pace({ ...load, requests, perSecond: requestsPerSecond }),
          pace({ ...load, requests: votes, perSecond: votesPerSecond }),
        ])
        for (const [status, count] of Object.entries({ ...sent.statuses, ...voted.statuses })) {
          if (!status.startsWith('20')) throw new Error(`${count} requests were answered with ${status}`)
        }
        recorded += (sent.statuses['201'] ?? 0) + (voted.statuses['201'] ?? 0) + (voted.statuses['200'] ?? 0)
        samples.push({
          hours: (performance.now() - startedAt) / 3_600_000,
          signals: recorded,
          disk: await diskOf(url),
          p50: sent.p50,
          p99: sent.p99,
          ...usageOf(service),
        })
      },
    ],
    [
      'signals that are repeated',
      100,
      async (turn) => {
        for (;;) {
          const response = await send(agent, replica.port, signalWithKey(account, turn * 2, true)).catch(() => null)
          if (response?.status === 201) break
          if (response !== null && response.status < 500) throw new Error(`${response.status} ${response.body}`)
          retried++
          await pause(50)
        }
        recorded++
      },
    ],
    [
      'telemetry',
      1_000,
      async (turn) => {
        const prompt = { 'gen_ai.prompt.name': 'prompts/b.md', 'gen_ai.request.model': 'large' }
        const { parent } = application.call({ ...prompt, 'gen_ai.response.id': `response-${turn}` })
        application.evaluate({ ...prompt, 'gen_ai.evaluation.score.label': 'thumbs_up' }, parent)
        await Promise.all([application.sendLogs(), application.sendSpans()])
        recorded++
      },
    ],
    [
      'pushes',
      // A busy day. With ten times as many, memory grows with the cached verdicts of 1,200 changes.
      30_000,
      async (turn) => {
        const before = git.head('main')
        const after = git.commit(`Change ${turn}`, { 'prompts/a.md': text(turn + 1) })
        git.push()
        const { headers, body } = deliveriesFrom('github', secret).push({ before, after })
        const response = await fetch(webhookAt(service.port, repository), {
          method: 'POST',
          headers,
          body: new Uint8Array(body),
        })
        if (response.status !== 202) throw new Error(`a push was answered with ${response.status}`)
        pushed++
      },
    ],
    [
      'trials and alerts',
      20_000,
      async () => {
        for (const { id } of await api('GET', 'trials?state=running')) {
          await api('PATCH', `trials/${id}`, { state: 'ended' })
        }
        await api('POST', 'trials', { commit: candidate, share: 0.5 })
        trials++
      },
    ],
    [
      'live texts and their votes',
      1_000,
      async (turn) => {
        const { prompts } = await api('GET', 'delivery')
        const { id, version, trial: current } = prompts.find(({ path }: { path: string }) => path === 'prompts/b.md')
        const voter = `user-${turn}`
        const isCandidate = current && armOf(current.id, voter, current.share) === 'candidate'
        const vote = {
          value: turn % 5 === 0 ? 'negative' : 'positive',
          version: isCandidate ? current.version : version,
          voter,
        }
        await api('POST', `prompts/${id}/signals`, vote)
        recorded++
      },
    ],
    ['console', 2_000, (turn) => browser.visit(turn)],
    [
      'backups',
      60_000,
      async () => {
        const { child, output, exited } = spawnNode([script, 'backup', backup, '--force'], { env })
        child.stdin?.end()
        if ((await exited) !== 0) throw new Error(`backup: ${output.stderr}`)
      },
    ],
    [
      'retention',
      60_000,
      async (turn) => {
        const created_at = new Date(Date.now() - (retentionDays + 40) * dayMs).toISOString()
        await importLines(
          url,
          ['signals', account.promptId],
          Array(100).fill(JSON.stringify({ value: 'positive', created_at, metadata: { turn } })),
        )
      },
    ],
    [
      'kills',
      // Longer than the service waits before it trusts a worker process again.
      150_000,
      async (turn) => {
        if (turn === 0) return
        if (engine === 'postgres') {
          await replica.kill()
          replica = await start(1)
        } else {
          const worker = workerOf(service)
          if (worker !== null) process.kill(worker, 'SIGKILL')
        }
        killed++
      },
    ],
  ]

  const failures: string[] = []
  const ends = startedAt + Number(options.minutes) * 60_000
  await Promise.all(
    jobs.map(async ([name, everyMs, run]) => {
      for (let turn = 0; performance.now() < ends; turn++) {
        const turnStart = performance.now()
        await run(turn).catch((error) => failures.push(`${name}: ${(error as Error).message}`))
        await pause(
          Math.min(Math.max(0, turnStart + everyMs - performance.now()), Math.max(0, ends - performance.now())),
        )
      }
    }),
  )

  const check = (isTrue: boolean, message: string) => isTrue || failures.push(message)
  const used = (await api('GET', 'usage')).used as number
  check(used === recorded, `${recorded} signals were answered with success, and ${used} are counted`)
  await eventually(
    async () => {
      const history = await send(agent, service.port, {
        path: '/api/v1/prompts/prompts%2Fa.md/history',
        key: account.key,
      })
      const { total_count } = JSON.parse(history.body).pagination
      if (total_count !== pushed + 1) throw new Error(`${pushed} pushes, and ${total_count} entries`)
    },
    { timeoutMs: 60_000 },
  ).catch((error) => failures.push(error.message))
  const told = new Set(receiver.received.map(({ headers }) => headers['webhook-id'])).size
  await eventually(async () => told >= trials, { timeoutMs: 60_000 }).catch(() =>
    failures.push(`${trials} trials, and ${told} messages`),
  )
  await browser.close()
  await application.stop()
  await service.stop()
  if (replica !== service) await replica.stop()
  await checkCounts(url).catch((error) => failures.push(error.message))
  const { size } = await stat(backup)
  await database.remove()
  git.remove()

  const drifting = report(engine, samples)
  const totals = {
    signals: recorded,
    pushed,
    trials,
    messages: told,
    killed,
    retried,
    pages: browser.pages(),
    'backup, bytes': size,
  }
  console.log(
    Object.entries(totals)
      .map(([name, value]) => `${name} ${value.toLocaleString('en')}`)
      .join(', '),
  )
  const distinct = Map.groupBy(failures, (failure) => failure)
  for (const [failure, { length }] of distinct) console.log(`FAILED ${length} times: ${failure}`)
  return failures.length === 0 && !drifting
}

/** Prints the figures, and returns whether one of them drifts. */
function report(engine: EngineName, all: Sample[]): boolean {
  const samples = all.slice(Math.floor(all.length * warmUpShare))
  const mean = (list: Sample[], name: keyof Sample) => list.reduce((sum, sample) => sum + sample[name], 0) / list.length
  console.log(
    `\n${engine}, ${options.minutes} minutes, ${new Date().toISOString().slice(0, 10)}, ${cpus().length} × ${process.arch}, Node ${process.version}, ` +
      `${all.length} samples\n\n| | first quarter | last quarter | an hour adds (95%) | |\n|---|---:|---:|---:|---|`,
  )
  const rows: [title: string, name: keyof Sample, digits: number][] = [
    ['memory of the service, MB', 'memory', 1],
    ['its file descriptors', 'descriptors', 1],
    ['memory of its worker, MB', 'workerMemory', 1],
    ['its file descriptors', 'workerDescriptors', 1],
    ['p50, ms', 'p50', 2],
    ['p99, ms', 'p99', 1],
  ]
  const drifts = rows.map(([title, name, digits]) => {
    const known = samples.filter((sample) => !Number.isNaN(sample[name]))
    const quarter = Math.ceil(known.length / 4)
    const { slope, error } = slopeOf(known.map((sample) => [sample.hours, sample[name]]))
    const [before, after] = [mean(known.slice(0, quarter), name), mean(known.slice(-quarter), name)]
    // Certain, from at least five minutes of samples, and more than a tenth within the run.
    const drifts = known.length >= 30 && slope - 1.96 * error > 0 && after > before * 1.1
    const figures = [before, after].map((value) => value.toFixed(digits)).join(' | ')
    console.log(
      `| ${title} | ${figures} | ${slope.toFixed(digits)} ± ${(1.96 * error).toFixed(digits)} | ${drifts ? 'DRIFTS' : ''} |`,
    )
    return drifts
  })
  const half = Math.floor(samples.length / 2)
  const perSignal = [samples.slice(0, half), samples.slice(half)].map((part) =>
    slopeOf(part.map(({ signals, disk }) => [signals, disk])).slope.toFixed(0),
  )
  console.log(`| disk per signal, bytes, by halves | ${perSignal.join(' | ')} | | |`)
  return drifts.includes(true)
}

/** Least squares, with the standard error of the slope. */
function slopeOf(points: [x: number, y: number][]): { slope: number; error: number } {
  const mean = (place: 0 | 1) => points.reduce((sum, point) => sum + point[place], 0) / points.length
  const [meanX, meanY] = [mean(0), mean(1)]
  const sxx = points.reduce((sum, [x]) => sum + (x - meanX) ** 2, 0)
  const slope = points.reduce((sum, [x, y]) => sum + (x - meanX) * (y - meanY), 0) / sxx
  const residuals = points.reduce((sum, [x, y]) => sum + (y - meanY - slope * (x - meanX)) ** 2, 0)
  return { slope, error: Math.sqrt(residuals / (points.length - 2) / sxx) }
}

/** With what SQLite has not moved into the database yet. */
async function diskOf(url: string): Promise<number> {
  const { stored } = await bytesOf(url)
  const log = `${url.slice('sqlite:'.length)}-wal`
  return url.startsWith('sqlite:') && existsSync(log) ? stored + (await stat(log)).size : stored
}

function usageOf(service: RunningProcess) {
  const [own, worker] = [service.process.pid as number, workerOf(service)]
  return {
    memory: residentMegabytes(own),
    descriptors: readdirSync(`/proc/${own}/fd`).length,
    workerMemory: worker === null ? Number.NaN : residentMegabytes(worker),
    workerDescriptors: worker === null ? Number.NaN : readdirSync(`/proc/${worker}/fd`).length,
  }
}

function residentMegabytes(pid: number): number {
  return Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]) / 1_024
}

function workerOf({ process: { pid } }: RunningProcess): number | null {
  const children = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8')
    .trim()
    .split(' ')
    .filter(Boolean)
    .map(Number)
  return children.find((child) => readFileSync(`/proc/${child}/cmdline`, 'utf8').includes('worker.')) ?? null
}

/** A person who leaves the console open and looks around. Without Chromium, no page is visited. */
async function openConsole({ address }: RunningProcess, { key, promptId }: Account) {
  const paths = ['/', '/prompts', `/prompts/${promptId}`, `/prompts/${promptId}/signals`, '/trials', '/regressions']
  const chromium = findChromium()
  if (chromium === null) return { visit: async () => {}, pages: () => 0, close: async () => {} }
  const browser = await launch(chromium)
  const page = await browser.newPage()
  const errors: string[] = []
  let visited = 0
  page.on('pageerror', (error) => errors.push(error.message))
  const headers = { authorization: `Bearer ${key}`, origin: address }
  const session = await page.request.post(`${address}/api/v1/session`, { headers })
  if (session.status() !== 201) throw new Error(`the session was answered with ${session.status()}`)
  return {
    async visit(turn: number) {
      await page.goto(address + paths[turn % paths.length])
      await page.locator('#main').waitFor()
      visited++
      const [error] = errors.splice(0)
      if (error !== undefined) throw new Error(error)
    },
    pages: () => visited,
    close: () => browser.close(),
  }
}
