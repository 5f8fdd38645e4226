import { randomBytes } from 'node:crypto'
import { fileURLToPath } from 'node:url'
import { issueKey } from '../server/src/domain/access/api-key.ts'
import { operator } from '../server/src/domain/access/audit.ts'
import { createVault } from '../server/src/domain/repositories/vault.ts'
import { openStore } from '../server/src/store/open.ts'
import { type Account, createAccount } from '../testing/account.ts'
import { processorSeconds, type RunningProcess, serve, startProcess } from '../testing/processes.ts'
import { signPayload } from '../testing/vote-tokens.ts'
import { readRequest, signalRequest } from './load.ts'
import { type PacedResult, pace } from './pace.ts'
import { median } from './statistics.ts'

type Engine = 'sqlite' | 'postgres'

const engines = ['sqlite', 'postgres'] as const
const votesPerSecond = 1_000
// Half of them signals, half of them pages of history.
const apiPerSecond = 500
const warmUpSeconds = 2
const bareServer = fileURLToPath(new URL('./bare.ts', import.meta.url))

interface Run {
  p50: number
  p99: number
  /** Seconds of the service, without PostgreSQL. */
  processor: number
  votes: PacedResult | null
}

// Beside votes to a server that stores nothing, the API shows what it costs to share the machine with a browser's traffic.
const kinds = ['alone', 'besideBare', 'withVotes'] as const

type Measured = Record<(typeof kinds)[number], Run>

export type Tokens = Record<Engine, Measured>

/** Latency of the API at a fixed rate, alone and while pages send 1,000 votes a second with tokens, to it or elsewhere. */
export async function measureTokens(
  createDatabase: (engine: Engine) => Promise<string>,
  rounds: number,
  seconds: number,
): Promise<Tokens> {
  const results: Partial<Tokens> = {}
  const bare = await startProcess(bareServer, [])
  for (const engine of engines) {
    const url = await createDatabase(engine)
    const secretKey = randomBytes(32)
    const account = await createAccount(url, 'business')
    // Another organisation, so that none waits for its own turn.
    const pages = await createAccount(url, 'business')
    const signingKey = await createSigningKey(url, secretKey, pages)
    const service = await serve(url, {
      PLAN_LIMITS: 'business=unlimited',
      PROMPTLEDGER_SECRET_KEY: secretKey.toString('hex'),
      TRUSTED_PROXIES: '127.0.0.1',
    })
    const runs: Record<keyof Measured, Run[]> = { alone: [], besideBare: [], withVotes: [] }
    let voters = 0
    for (let round = -1; round < rounds; round++) {
      for (const kind of kinds) {
        const duration = round < 0 ? warmUpSeconds : seconds
        const votes = kind === 'alone' ? [] : createVotes(signingKey, pages, votesPerSecond * duration, voters)
        voters += votes.length
        const run = await measureRun(service, account, votes, kind === 'withVotes' ? service : bare, duration)
        if (round >= 0) runs[kind].push(run)
      }
    }
    await service.stop()
    results[engine] = {
      alone: middle(runs.alone),
      besideBare: middle(runs.besideBare),
      withVotes: middle(runs.withVotes),
    }
  }
  await bare.stop()
  return results as Tokens
}

async function measureRun(
  service: RunningProcess,
  account: Account,
  votes: string[],
  voteServer: RunningProcess,
  seconds: number,
): Promise<Run> {
  const requests = [signalRequest(account), readRequest(account, 'history')]
  const before = processorSeconds(service)
  const [api, sent] = await Promise.all([
    pace({ port: service.port, requests, perSecond: apiPerSecond, connections: 32, seconds }),
    votes.length === 0
      ? null
      : pace({ port: voteServer.port, requests: votes, perSecond: votesPerSecond, connections: 64, seconds }),
  ])
  for (const status of Object.keys({ ...api.statuses, ...sent?.statuses })) {
    if (!status.startsWith('20')) throw new Error(`received status ${status}`)
  }
  return { p50: api.p50, p99: api.p99, processor: processorSeconds(service) - before, votes: sent }
}

function middle(runs: Run[]): Run {
  return {
    p50: median(runs.map(({ p50 }) => p50)),
    p99: median(runs.map(({ p99 }) => p99)),
    processor: median(runs.map(({ processor }) => processor)),
    votes: runs.at(-1)?.votes ?? null,
  }
}

export async function createSigningKey(url: string, secretKey: Buffer, { organisationId }: Account): Promise<string> {
  const store = await openStore({ url, poolSize: 1, clock: Date.now, onLostConnection: () => {} })
  try {
    const terms = { organisationId, name: 'pages', role: 'signing', createdAt: Date.now(), expiresAt: null } as const
    return (await issueKey(store.keys, terms, operator, createVault(secretKey))).secret
  } finally {
    await store.close()
  }
}

/** One vote of each voter, each from an address of its own, as a proxy passes them on. */
export function createVotes(signingKey: string, { promptId }: Account, count: number, first: number): string[] {
  const [, k] = signingKey.split('_')
  const e = Math.floor(Date.now() / 1_000) + 3_600
  return Array.from({ length: count }, (_, i) => {
    const number = first + i
    const token = signPayload(signingKey, {
      k,
      p: promptId,
      v: '8f3a1c5',
      s: `answer-${number}`,
      u: `user-${number}`,
      e,
    })
    const body = `{"token":"${token}","value":"positive"}`
    const address = `10.${(number >> 16) & 255}.${(number >> 8) & 255}.${number & 255}`
    return (
      `POST /api/v1/votes HTTP/1.1\r\nHost: 127.0.0.1\r\nX-Forwarded-For: ${address}\r\nOrigin: https://shop.example\r\n` +
      `Content-Type: text/plain;charset=UTF-8\r\nContent-Length: ${body.length}\r\n\r\n${body}`
    )
  })
}

export function reportTokens(tokens: Tokens): string {
  const ms = (value: number | undefined) => value?.toFixed(2)
  return [
    '',
    `The API at ${apiPerSecond} requests/s: alone, beside ${votesPerSecond} votes/s to a bare server, and beside as many by tokens to the service itself:`,
    '',
    '| engine | API p50, ms: alone | beside bare | with votes | API p99, ms: alone | beside bare | with votes | votes p50, ms | votes p99, ms | processor time of a vote, µs |',
    '|---|---:|---:|---:|---:|---:|---:|---:|---:|---:|',
    ...engines.map((engine) => {
      const measured = tokens[engine]
      const { alone, withVotes } = measured
      const perVote = ((withVotes.processor - alone.processor) / (withVotes.votes?.sent ?? 0)) * 1e6
      const cells = [
        ...kinds.map((kind) => ms(measured[kind].p50)),
        ...kinds.map((kind) => ms(measured[kind].p99)),
        ms(withVotes.votes?.p50),
        ms(withVotes.votes?.p99),
        perVote.toFixed(0),
      ]
      return `| ${[engine, ...cells].join(' | ')} |`
    }),
  ].join('\n')
}
