import { createHmac } from 'node:crypto'
import { join } from 'node:path'
import type { Account } from '../../testing/account.ts'
import type { RunningProcess } from '../../testing/processes.ts'
import { generateRepository } from '../../testing/sample-repository.ts'
import { signPayload } from '../../testing/vote-tokens.ts'
import type { Response } from './connection.ts'

/** The service under test, with the resources that requests refer to. */
export interface Target {
  port: number
  keys: Record<KeyName, string>
  prompts: string[]
  /** A local git repository, and two connections to it: one to read and one to disconnect. */
  remote: string
  repositories: { kept: number; disposable: number }
  hook: { id: string; sign(body: Buffer): string }
  /** An alert whose target is never asked, because its address is private. */
  alert: string
  /** Lets a page vote on one subject. */
  token: string
  session: string
  /** Resources that requests may delete. */
  disposable: { prompts: string[]; keys: number[]; sessions: string[]; signals: { promptId: string; id: number }[] }
  /** Signals counted in this month and stored before the first request. */
  initial: SignalCounts
  /** Ids of the signals that responses confirmed since. A repeated request gets the id of the first. */
  recorded: Set<number>
  deleted: number
}

export type KeyName = 'admin' | 'standard' | 'ingest' | 'revoked' | 'expired'

interface SignalCounts {
  used: number
  stored: number
}

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

const alert = { name: 'kept', channel: 'webhook', target: 'https://127.0.0.1:1/' }

interface ConnectedRepository {
  id: number
  webhook_url: string
  webhook_secret: string
}

/** Creates the resources through the API. */
export async function prepareTarget(
  { port }: RunningProcess,
  { key: admin, promptId }: Account,
  folder: string,
): Promise<Target> {
  const api = apiClient(port, admin)
  const createKey = async (body: object) => (await api<{ id: number; key: string }>('POST', 'keys', body)).data
  let created = 0
  const createPrompt = async () =>
    (await api<{ id: string }>('POST', 'prompts', { name: `sample ${created++}` })).data.id
  const signIn = async () => (await api('POST', 'session')).cookie
  const recordSignal = async () => {
    const { data } = await api<{ id: number }>('POST', `prompts/${promptId}/signals`, { value: 'positive' })
    return { promptId, id: data.id }
  }
  const connect = async (path: string) =>
    (await api<ConnectedRepository>('POST', 'repositories', { forge: 'gitea', url: remote, path })).data
  const several = <Value>(count: number, create: () => Promise<Value>) =>
    Promise.all(Array.from({ length: count }, create))

  /** For a prompt of its own, whose signals are not counted. The first vote is, so it happens here, and later ones change it. */
  const createToken = async () => {
    const { key } = await createKey({ role: 'signing' })
    const e = Math.floor(Date.now() / 1_000) + 6 * 86_400
    const token = signPayload(key, { k: key.split('_')[1], p: await createPrompt(), s: 'subject of the token', e })
    await api('POST', 'votes', { token, value: 'positive' })
    return token
  }

  const prompts = [promptId, ...(await several(11, createPrompt))]
  // One entry each, so that the smallest entry ids exist.
  for (const prompt of prompts) await api('POST', `prompts/${prompt}/history`, entry)
  const revoked = await createKey({})
  await api('DELETE', `keys/${revoked.id}`)
  const remote = join(folder, 'sample.git')
  await generateRepository(remote, 20, 3)
  const [kept, disposable] = [await connect('prompts/team-0/**'), await connect('prompts/team-1/**')]
  return {
    port,
    keys: {
      admin,
      standard: (await createKey({ role: 'standard' })).key,
      ingest: (await createKey({ role: 'ingest' })).key,
      revoked: revoked.key,
      expired: (await createKey({ expires_at: new Date(Date.now() + 3_000).toISOString() })).key,
    },
    prompts,
    remote,
    repositories: { kept: kept.id, disposable: disposable.id },
    hook: {
      id: kept.webhook_url.split('/').at(-1) as string,
      sign: (body) => createHmac('sha256', kept.webhook_secret).update(body).digest('hex'),
    },
    token: await createToken(),
    alert: (await api<{ id: string }>('POST', 'alerts', alert)).data.id,
    session: await signIn(),
    disposable: {
      prompts: await several(disposableCount, createPrompt),
      keys: (await several(disposableCount, () => createKey({}))).map(({ id }) => id),
      sessions: await several(disposableCount, signIn),
      signals: await several(disposableCount, recordSignal),
    },
    initial: await countSignals(port, admin, prompts),
    recorded: new Set(),
    deleted: 0,
  }
}

/** Notes what a successful response says about the stored signals. */
export function noteSignals(target: Target, operationId: string, { body }: Response): void {
  if (operationId === 'createSignal') target.recorded.add(JSON.parse(body.toString()).data.id)
  if (operationId === 'retractSignal') target.deleted++
  if (operationId === 'eraseSignals') target.deleted += JSON.parse(body.toString()).data.erased
}

/** Throws if the service counts or stores other signals than it confirmed. Returns how many it stores. */
export async function checkSignals({ port, keys, prompts, initial, recorded, deleted }: Target): Promise<number> {
  const { used, stored } = await countSignals(port, keys.admin, prompts)
  const expected = { used: initial.used + recorded.size, stored: initial.stored + recorded.size - deleted }
  if (used !== expected.used) throw new Error(`${used} signals are counted, ${expected.used} were confirmed`)
  if (stored !== expected.stored) throw new Error(`${stored} signals are stored, ${expected.stored} were confirmed`)
  return stored
}

async function countSignals(port: number, key: string, prompts: string[]): Promise<SignalCounts> {
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
