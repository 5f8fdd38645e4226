import { setTimeout as pause } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import { distributeDatabase } from '../server/src/store/postgres/distribute.ts'
import { type Account, createAccounts } from '../testing/account.ts'
import { citusPrograms, createCitusDatabase, runSql, startCitus } from '../testing/citus.ts'
import { type PostgresServer, startPostgres } from '../testing/postgres.ts'
import { processorSeconds, serve, treeSeconds } from '../testing/processes.ts'
import { load, signalRequest, subjectNumber, voteRequest } from './load.ts'
import { pace } from './pace.ts'
import { median } from './statistics.ts'

const usage = `Measures recording through the service on plain PostgreSQL and on Citus, in turns. Needs CITUS_PG_BIN.

node bench/citus.ts               signals without details
node bench/citus.ts --votes       signals with a version and a subject
node bench/citus.ts --kill        latency of the organisations on one worker before and after the other is killed
Options: --shards 8 --workers 2 --organisations 1000 --connections 32 --rounds 5 --seconds 4
`

const { values } = parseArgs({
  options: {
    help: { type: 'boolean', default: false },
    votes: { type: 'boolean', default: false },
    kill: { type: 'boolean', default: false },
    shards: { type: 'string', default: '8' },
    workers: { type: 'string', default: '2' },
    organisations: { type: 'string', default: '1000' },
    connections: { type: 'string', default: '32' },
    rounds: { type: 'string', default: '5' },
    seconds: { type: 'string', default: '4' },
  },
})
const shards = Number(values.shards)
const workers = Number(values.workers)
const organisations = Number(values.organisations)
const connections = Number(values.connections)
const rounds = Number(values.rounds)
const seconds = Number(values.seconds)
const settings = { PLAN_LIMITS: 'business=100000000' }
const warmUpSeconds = 4
// Little enough that latency does not come from waiting for a processor.
const pacedPerSecond = 150
const backgroundConnections = 8
const backgroundPauseMs = 50

interface Target {
  url: string
  servers: PostgresServer[]
  accounts: Account[]
}

/** Signals per second, latency in milliseconds, and processor time per signal in microseconds. */
interface Round {
  rate: number
  p50: number
  p99: number
  service: number
  databases: number[]
}

if (values.help) process.stdout.write(usage)
else await main()

async function main(): Promise<void> {
  const cluster = await startCitus(workers)
  const servers = cluster.servers
  const url = await createCitusDatabase(
    servers.map((server) => server.url),
    'ledger',
  )
  const accounts = await createAccounts(url, 'business', organisations)
  await distributeDatabase(url, shards)
  try {
    if (values.kill) await measureKill({ url, servers, accounts })
    else await compare({ url, servers, accounts })
  } finally {
    await cluster.stop()
  }
}

async function compare(citus: Target): Promise<void> {
  const server = await startPostgres([], citusPrograms())
  const plain = {
    url: server.url,
    servers: [server],
    accounts: await createAccounts(server.url, 'business', organisations),
  }
  const targets = { plain, citus }
  const measured: Record<keyof typeof targets, Round[]> = { plain: [], citus: [] }
  for (let round = 0; round < rounds; round++) {
    for (const name of ['plain', 'citus'] as const) {
      const result = await measure(targets[name])
      measured[name].push(result)
      process.stdout.write(`${name}: ${describe(result)}\n`)
    }
  }
  const medians = { plain: middle(measured.plain), citus: middle(measured.citus) }
  for (const name of ['plain', 'citus'] as const) {
    process.stdout.write(`median of ${rounds}, ${name}: ${describe(medians[name])}\n`)
  }
  const share = medians.citus.rate / medians.plain.rate
  process.stdout.write(`of plain PostgreSQL: ${share.toFixed(2)} (${shards} shards, ${workers} workers)\n`)
  await server.stop()
}

/** One round, in a new process of the service, because the same code can be 10% faster or slower from one to the next. */
async function measure({ url, servers, accounts }: Target): Promise<Round> {
  const service = await serve(url, settings)
  let subjects = Date.now() % 1e9
  const change = (request: Buffer) => {
    const at = request.lastIndexOf('answer-') + 'answer-'.length
    request.write(String(subjects++).padStart(subjectNumber.length, '0'), at, 'latin1')
  }
  const run = (duration: number) =>
    load({
      port: service.port,
      requests: accounts.map(values.votes ? voteRequest : signalRequest),
      ...(values.votes && { change }),
      expectedStatus: 201,
      connections,
      seconds: duration,
    })
  const used = () => [processorSeconds(service), ...servers.map((server) => treeSeconds(server.processId()))]
  await run(warmUpSeconds)
  const before = used()
  const result = await run(seconds)
  const count = result.requestsPerSecond * seconds
  const [inService, ...inDatabases] = used().map((each, i) => ((each - (before[i] as number)) / count) * 1e6)
  await service.stop()
  return {
    rate: result.requestsPerSecond,
    p50: result.p50,
    p99: result.p99,
    service: inService as number,
    databases: inDatabases,
  }
}

function middle(all: Round[]): Round {
  const of = (pick: (round: Round) => number) => median(all.map(pick))
  return {
    rate: of(({ rate }) => rate),
    p50: of(({ p50 }) => p50),
    p99: of(({ p99 }) => p99),
    service: of(({ service }) => service),
    databases: (all[0] as Round).databases.map((_, i) => of(({ databases }) => databases[i] as number)),
  }
}

function describe({ rate, p50, p99, service, databases }: Round): string {
  const perSignal = databases.map((each) => each.toFixed(0)).join(' + ')
  return (
    `${rate.toFixed(0)} signals/s, p50 ${p50.toFixed(1)} ms, p99 ${p99.toFixed(1)} ms, ` +
    `processor time per signal: service ${service.toFixed(0)} µs, databases ${perSignal} µs`
  )
}

/** Sends at a fixed rate to the organisations of one worker, and more to the others, before and after the other worker is killed. */
async function measureKill({ url, servers, accounts }: Target): Promise<void> {
  const victim = servers[1] as PostgresServer
  const placed = await runSql(url, [
    `select o.id::int as organisation, nodeport::text as port from organisations o
     join pg_dist_placement p on p.shardid = get_shard_id_for_distribution_column('signal_usage', o.id)
     join pg_dist_node n using (groupid)`,
  ])
  const port = new URL(victim.url).port
  const lost = new Set(placed.filter((row) => row.port === port).map(({ organisation }) => organisation as number))
  const isLost = ({ organisationId }: Account) => lost.has(organisationId)
  const requests = accounts.filter((account) => !isLost(account)).map(signalRequest)
  const service = await serve(url, { ...settings, LOG_LEVEL: 'silent' })
  const run = (duration: number) =>
    pace({ port: service.port, requests, perSecond: pacedPerSecond, connections, seconds: duration })
  const background = sendUntilStopped(service.address, accounts.filter(isLost))
  await run(warmUpSeconds)
  const ratios: number[] = []
  for (let round = 0; round < rounds; round++) {
    const before = await run(seconds)
    await victim.halt('SIGKILL')
    const after = await run(seconds)
    await victim.resume()
    await run(warmUpSeconds)
    ratios.push(after.p99 / before.p99)
    for (const [when, result] of Object.entries({ before, after })) {
      const { p50, p99, statuses } = result
      process.stdout.write(`${when}: p50 ${p50.toFixed(1)} ms, p99 ${p99.toFixed(1)} ms, ${JSON.stringify(statuses)}\n`)
    }
  }
  process.stdout.write(`p99 of the other organisations, after to before: ${median(ratios).toFixed(2)}\n`)
  await background.stop()
  await service.stop()
}

/** Sends signals of these organisations on several connections, whatever the responses. */
function sendUntilStopped(address: string, accounts: Account[]): { stop(): Promise<void> } {
  let stopped = false
  let next = 0
  const loops = Array.from({ length: backgroundConnections }, async () => {
    while (!stopped) {
      const { key, promptId } = accounts[next++ % accounts.length] as Account
      const response = await fetch(`${address}/api/v1/prompts/${promptId}/signals`, {
        method: 'POST',
        headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
        body: '{"value":"positive"}',
      })
      await response.arrayBuffer()
      await pause(backgroundPauseMs)
    }
  })
  return {
    async stop() {
      stopped = true
      await Promise.all(loops)
    },
  }
}
