import { createHmac } from 'node:crypto'
import { join } from 'node:path'
import { type Account, createAccount } from '../../testing/account.ts'
import { importLines } from '../../testing/cli.ts'
import type { RunningProcess } from '../../testing/processes.ts'
import { generateRepository } from '../../testing/sample-repository.ts'
import type { Response } from './connection.ts'

/** The service under test, with the resources that requests refer to. */
export interface Target {
  port: number
  keys: Record<KeyName, string>
  /** Far from its monthly limit. */
  ample: Organisation
  /** Ten signals below its monthly limit. */
  scarce: Organisation
  /** A local git repository, and two connections to it: one to read and one to disconnect. */
  remote: string
  repositories: { kept: number; disposable: number }
  hook: { id: string; sign(body: Buffer): string }
  session: string
  /** Resources that requests may delete. */
  disposable: { prompts: string[]; keys: number[]; sessions: string[]; signals: { promptId: string; id: number }[] }
}

export type KeyName = 'admin' | 'standard' | 'ingest' | 'scarce' | 'revoked' | 'expired'

export interface Organisation {
  admin: string
  prompts: string[]
  /** Signals counted in this month and stored before the first request. */
  used: number
  stored: number
  /** Ids of the signals that responses confirmed since. A repeated request gets the id of the first. */
  recorded: Set<number>
  deleted: number
}

const leftOfScarce = 10
const disposableCount = 60
const entry = {
  action: 'deployed',
  user: { name: 'Ada Lovelace', email: 'ada@example.com' },
  commit_sha: 'a1'.repeat(20),
  pr_number: null,
  pr_url: null,
  branch_name: 'main',
  created_at: '2026-01-01T00:00:00.000Z',
}

/** Creates both organisations with the CLI, before the service starts. */
export async function createAccounts(url: string): Promise<[ample: Account, scarce: Account]> {
  const accounts: [Account, Account] = [await createAccount(url, 'business'), await createAccount(url, 'free')]
  const [, scarce] = accounts
  const signal = `{"value":"positive","created_at":"${new Date().toISOString()}"}`
  await importLines(url, ['signals', scarce.promptId], Array(scarce.limit - leftOfScarce).fill(signal))
  return accounts
}

interface ConnectedRepository {
  id: number
  webhook_url: string
  webhook_secret: string
}

/** Creates everything else through the API. */
export async function prepareTarget(
  { port }: RunningProcess,
  [ample, scarce]: [Account, Account],
  folder: string,
): Promise<Target> {
  const api = apiClient(port, ample.key)
  const createKey = async (body: object) => (await api<{ id: number; key: string }>('POST', 'keys', body)).data
  const createPrompt = async () => (await api<{ id: string }>('POST', 'prompts', { name: 'sample' })).data.id
  const several = <Value>(count: number, create: () => Promise<Value>) =>
    Promise.all(Array.from({ length: count }, create))

  const revoked = await createKey({})
  await api('DELETE', `keys/${revoked.id}`)
  const prompts = [ample.promptId, ...(await several(11, createPrompt))]
  // One entry each, so that the smallest entry ids exist.
  for (const prompt of prompts) await api('POST', `prompts/${prompt}/history`, entry)
  const remote = join(folder, 'sample.git')
  await generateRepository(remote, 20, 3)
  const connect = async (path: string) =>
    (await api<ConnectedRepository>('POST', 'repositories', { forge: 'gitea', url: remote, path })).data
  const [kept, disposable] = [await connect('prompts/team-0/**'), await connect('prompts/team-1/**')]
  const recordSignal = async () => {
    const { data } = await api<{ id: number }>('POST', `prompts/${ample.promptId}/signals`, { value: 'positive' })
    return { promptId: ample.promptId, id: data.id }
  }
  const organisation = async (admin: string, prompts: string[]) => {
    return { admin, prompts, ...(await countsOf(port, admin, prompts)), recorded: new Set<number>(), deleted: 0 }
  }
  const signIn = async () => (await api('POST', 'session')).cookie
  return {
    port,
    keys: {
      admin: ample.key,
      standard: (await createKey({ role: 'standard' })).key,
      ingest: (await createKey({ role: 'ingest' })).key,
      scarce: scarce.key,
      revoked: revoked.key,
      expired: (await createKey({ expires_at: new Date(Date.now() + 3_000).toISOString() })).key,
    },
    remote,
    repositories: { kept: kept.id, disposable: disposable.id },
    hook: {
      id: kept.webhook_url.split('/').at(-1) as string,
      sign: (body) => createHmac('sha256', kept.webhook_secret).update(body).digest('hex'),
    },
    session: await signIn(),
    disposable: {
      prompts: await several(disposableCount, createPrompt),
      keys: (await several(disposableCount, () => createKey({}))).map(({ id }) => id),
      sessions: await several(disposableCount, signIn),
      signals: await several(disposableCount, recordSignal),
    },
    ample: await organisation(ample.key, prompts),
    scarce: await organisation(scarce.key, [scarce.promptId]),
  }
}

/** Notes what a successful response says about the stored signals. */
export function noteSignals(target: Target, operationId: string, caller: string, { body }: Response): void {
  const organisation = caller === 'scarce' ? target.scarce : target.ample
  if (operationId === 'createSignal') organisation.recorded.add(JSON.parse(body.toString()).data.id)
  if (operationId === 'retractSignal') organisation.deleted++
  if (operationId === 'eraseSignals') organisation.deleted += JSON.parse(body.toString()).data.erased
}

/** Throws if the service counts or stores other signals than it confirmed. Returns how many it stores. */
export async function checkSignals({ port, ample, scarce }: Target): Promise<number> {
  let total = 0
  for (const { admin, prompts, used, stored, recorded, deleted } of [ample, scarce]) {
    const actual = await countsOf(port, admin, prompts)
    const expected = { used: used + recorded.size, stored: stored + recorded.size - deleted }
    if (actual.used !== expected.used || actual.stored !== expected.stored) {
      throw new Error(`the service has ${JSON.stringify(actual)} signals and confirmed ${JSON.stringify(expected)}`)
    }
    total += actual.stored
  }
  return total
}

async function countsOf(port: number, key: string, prompts: string[]): Promise<{ used: number; stored: number }> {
  const api = apiClient(port, key)
  const { used } = (await api<{ used: number }>('GET', 'usage')).data
  let stored = 0
  for (const prompt of prompts) {
    stored += (await api('GET', `prompts/${prompt}/signals?limit=1`)).pagination.total_count
  }
  return { used, stored }
}

interface ApiResponse<Data> {
  data: Data
  pagination: { total_count: number }
  cookie: string
}

function apiClient(port: number, key: string) {
  return async <Data>(method: string, path: string, body?: object): Promise<ApiResponse<Data>> => {
    const response = await fetch(`http://127.0.0.1:${port}/api/v1/${path}`, {
      method,
      headers: { authorization: `Bearer ${key}`, ...(body && { 'content-type': 'application/json' }) },
      body: body === undefined ? null : JSON.stringify(body),
    })
    const text = await response.text()
    if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${text}`)
    const [cookie = ''] = (response.headers.get('set-cookie') ?? '').split(';')
    return { ...JSON.parse(text || '{}'), cookie }
  }
}
