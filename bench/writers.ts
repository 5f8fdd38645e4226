import { setTimeout as pause } from 'node:timers/promises'
import pg from 'pg'
import { type Account, createAccounts } from '../testing/account.ts'
import { serve } from '../testing/processes.ts'
import { load, signalRequest } from './load.ts'
import { median } from './statistics.ts'

const processes = 4
const connections = 16
const warmUpSeconds = 1
const sampleMs = 20
const settings = { PLAN_LIMITS: 'free=1000,team=10000,business=unlimited' }

interface Measured {
  signalsPerSecond: number
  /** The share of busy connections that wait for a lock of another one, by samples. */
  waiting: number
}

/** By the number of organisations that the processes record for, a measurement of each round. */
export type Writers = Record<'one' | 'each', Measured[]>

/**
 * Four processes on one PostgreSQL that record for one organisation without a limit, or for one each, in turns. If processes wait for
 * each other, the first is slower.
 */
export async function measureWriters(
  createDatabase: (engine: 'postgres') => Promise<string>,
  rounds: number,
  seconds: number,
): Promise<Writers> {
  const url = await createDatabase('postgres')
  const accounts = await createAccounts(url, 'business', processes)
  const services = await Promise.all(accounts.map(() => serve(url, settings)))
  const writers: Writers = { one: [], each: [] }
  const record = (kind: keyof Writers, seconds: number) =>
    Promise.all(
      services.map(({ port }, i) => {
        const requests = [signalRequest(accounts[kind === 'one' ? 0 : i] as Account)]
        return load({ port, requests, expectedStatus: 201, connections, seconds })
      }),
    )
  try {
    for (let round = 0; round < rounds; round++) {
      for (const kind of ['one', 'each'] as const) {
        await record(kind, warmUpSeconds)
        const samples = await sampleWaits(url)
        const results = await record(kind, seconds)
        const signalsPerSecond = results.reduce((sum, { requestsPerSecond }) => sum + requestsPerSecond, 0)
        writers[kind].push({ signalsPerSecond, waiting: await samples.stop() })
      }
    }
  } finally {
    await Promise.all(services.map((service) => service.stop()))
  }
  return writers
}

async function sampleWaits(url: string): Promise<{ stop(): Promise<number> }> {
  const client = new pg.Client(url)
  await client.connect()
  const sql = `select count(*) filter (where wait_event_type = 'Lock')::int as waiting, count(*)::int as busy from pg_stat_activity
    where datname = current_database() and state = 'active' and pid <> pg_backend_pid()`
  let [waiting, busy, isStopped] = [0, 0, false]
  async function sample(): Promise<void> {
    while (!isStopped) {
      const { rows } = await client.query(sql)
      waiting += rows[0].waiting
      busy += rows[0].busy
      await pause(sampleMs)
    }
  }
  const sampling = sample()
  return {
    async stop() {
      isStopped = true
      await sampling
      await client.end()
      return waiting / busy
    },
  }
}

export function reportWriters({ one, each }: Writers): string {
  const rate = (of: Measured[]) => median(of.map(({ signalsPerSecond }) => signalsPerSecond))
  const row = (name: string, of: Measured[]) =>
    `| ${name} | ${rate(of).toFixed(0)} | ${(rate(of) / rate(each)).toFixed(2)} | ` +
    `${(100 * median(of.map(({ waiting }) => waiting))).toFixed(0)}% |`
  return [
    '',
    `| ${processes} processes record for | signals/s | vs one organisation each | waiting for locks |`,
    '|---|---:|---:|---:|',
    row('one organisation each', each),
    row('one organisation', one),
  ].join('\n')
}
