import { createHmac } from 'node:crypto'
import { join } from 'node:path'
import { type Account, createAccount } from '../../testing/account.ts'
import { importLines } from '../../testing/cli.ts'
import type { RunningProcess } from '../../testing/processes.ts'
import { generateRepository } from '../../testing/sample-repository.ts'
import type { Answer } from './wire.ts'

/** What is there to be asked for, and what became of it. */
export interface World {
  port: number
  /** The values of the header Authorization, by whose they are. */
  keys: Record<Who, string>
  /** Two organisations: one with a lot left of its limit, one with next to nothing. */
  ample: Organisation
  scarce: Organisation
  /** Where there is a repository, and those that are made of it. */
  repository: string
  repositories: { followed: number; doomed: number }
  hook: { id: string; sign(body: Buffer): string }
  session: string
  /** What may be deleted: made by earlier requests, as their answers told. */
  expendable: { prompts: string[]; keys: number[]; sessions: string[]; signals: { promptId: string; id: number }[] }
}

export type Who = 'admin' | 'standard' | 'ingest' | 'scarce' | 'revoked' | 'expired'

export interface Organisation {
  admin: string
  prompts: string[]
  /** The month's usage before anything was asked. */
  used: number
  signals: Set<number>
  retracted: number
  erased: number
}

const leftOfScarce = 10
const entry = {
  action: 'deployed',
  user: { name: 'Ada Lovelace', email: 'ada@example.com' },
  commit_sha: 'a1'.repeat(20),
  pr_number: null,
  pr_url: null,
  branch_name: 'main',
  created_at: '2026-01-01T00:00:00.000Z',
}
const mostExpendable = 100

/** What only the command can make. */
export async function foundWorld(url: string): Promise<[Account, Account]> {
  const ample = await createAccount(url, 'business')
  const scarce = await createAccount(url, 'free')
  const now = new Date().toISOString()
  const lines = Array(scarce.limit - leftOfScarce).fill(`{"value":"positive","created_at":"${now}"}`)
  await importLines(url, ['signals', scarce.promptId], lines)
  return [ample, scarce]
}

interface Repository {
  id: number
  webhook_url: string
  webhook_secret: string
}

/** The rest, by way of the interface. */
export async function openWorld(
  { port }: RunningProcess,
  [ample, scarce]: [Account, Account],
  folder: string,
): Promise<World> {
  const ask = asker(port, ample.key)
  const key = async (body: object) => (await ask<{ id: number; key: string }>('POST', 'keys', body)).data
  const standard = await key({ role: 'standard' })
  const ingest = await key({ role: 'ingest' })
  const revoked = await key({})
  await ask('DELETE', `keys/${revoked.id}`)
  const expired = await key({ expires_at: new Date(Date.now() + 3_000).toISOString() })
  const prompts = [ample.promptId]
  while (prompts.length < 12)
    prompts.push((await ask<{ id: string }>('POST', 'prompts', { name: 'asked for' })).data.id)
  // One entry each, whose ids are the first.
  for (const prompt of prompts) await ask('POST', `prompts/${prompt}/history`, entry)
  const repository = join(folder, 'sample.git')
  await generateRepository(repository, 20, 3)
  const connect = async (path: string) => {
    return (await ask<Repository>('POST', 'repositories', { forge: 'gitea', url: repository, path })).data
  }
  const followed = await connect('prompts/team-0/**')
  const doomed = await connect('prompts/team-1/**')
  const secret = followed.webhook_secret
  const { cookie } = await ask('POST', 'session')
  return {
    port,
    keys: {
      admin: ample.key,
      standard: standard.key,
      ingest: ingest.key,
      scarce: scarce.key,
      revoked: revoked.key,
      expired: expired.key,
    },
    ample: await organisation(port, ample.key, prompts),
    scarce: await organisation(port, scarce.key, [scarce.promptId]),
    repository,
    repositories: { followed: followed.id, doomed: doomed.id },
    hook: {
      id: followed.webhook_url.split('/').at(-1) as string,
      sign: (body) => createHmac('sha256', secret).update(body).digest('hex'),
    },
    session: cookie,
    expendable: { prompts: [], keys: [], sessions: [], signals: [] },
  }
}

async function organisation(port: number, admin: string, prompts: string[]): Promise<Organisation> {
  const { data } = await asker(port, admin)<{ used: number }>('GET', 'usage')
  return { admin, prompts, used: data.used, signals: new Set(), retracted: 0, erased: 0 }
}

interface Told<Data> {
  data: Data
  pagination: { total_count: number }
  cookie: string
}

function asker(port: number, key: string) {
  return async <Data>(method: string, path: string, body?: object): Promise<Told<Data>> => {
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

const lasting = ['createSignal', 'eraseSignals', 'createPrompt', 'createKey', 'rotateKey']

/** Keeps in mind what an answer says about what is there now. */
export function learn(
  { expendable, ample, ...world }: World,
  operationId: string,
  who: string,
  promptId: string,
  answer: Answer,
): void {
  const { status, headers, body } = answer
  const own = who === 'scarce' ? world.scarce : ample
  const data = status < 300 && lasting.includes(operationId) ? JSON.parse(body.toString()).data : undefined
  switch (`${operationId} ${status}`) {
    case 'createSignal 201':
      own.signals.add(data.id)
      if (own === ample) keep(expendable.signals, { promptId, id: data.id })
      break
    case 'retractSignal 204':
      own.retracted++
      break
    case 'eraseSignals 200':
      own.erased += data.erased
      break
    case 'createPrompt 201':
      if (own === ample) keep(expendable.prompts, data.id)
      break
    case 'createKey 201':
    case 'rotateKey 201':
      if (own === ample) keep(expendable.keys, data.id)
      break
    case 'signIn 201':
      keep(expendable.sessions, headers.get('set-cookie')?.split(';')[0] ?? '')
      break
  }
}

function keep<Thing>(things: Thing[], thing: Thing): void {
  if (things.length < mostExpendable) things.push(thing)
}

/** Throws where what is stored is not what was answered. Gives how many signals there are. */
export async function countUp({ port, ample, scarce }: World): Promise<number> {
  let total = 0
  for (const { admin, prompts, used, signals, retracted, erased } of [ample, scarce]) {
    const ask = asker(port, admin)
    const { data } = await ask<{ used: number }>('GET', 'usage')
    if (data.used !== used + signals.size) throw new Error(`${data.used} counted, ${used + signals.size} answered 201`)
    let stored = 0
    for (const prompt of prompts) {
      stored += (await ask('GET', `prompts/${prompt}/signals?limit=1`)).pagination.total_count
    }
    const expected = used + signals.size - retracted - erased
    if (stored !== expected) {
      throw new Error(`${stored} stored; ${used + signals.size} answered 201, ${retracted} retracted, ${erased} erased`)
    }
    total += stored
  }
  return total
}
