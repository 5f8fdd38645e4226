import assert from 'node:assert/strict'
import type { RegressionBody } from '../contract/regressions.ts'
import type { ShiftBody } from '../contract/shifts.ts'
import { day, type Instant, minute } from '../server/src/domain/time.ts'
import type { Tenant } from './service.ts'

const batchSize = 1_000

export interface Voting {
  from: number
  until: number
  count: number
  rate: number
  /** The public ID of another prompt. */
  prompt?: string
  metadata?: Record<string, string>
}

/** Posts votes through the API, evenly spread over the time and with exactly this rate. */
export async function postVotes(tenant: Tenant, voting: Voting): Promise<void> {
  const { from, until, count, rate, prompt, metadata } = voting
  const isPositive = (i: number) => Math.floor((i + 1) * rate) > Math.floor(i * rate)
  const signals = Array.from({ length: count }, (_, i) => ({
    prompt: prompt ?? tenant.prompt.publicId,
    value: isPositive(i) ? 'positive' : 'negative',
    occurred_at: new Date(Math.floor(from + ((until - from) * i) / count)).toISOString(),
    ...(metadata && { metadata }),
  }))
  for (let at = 0; at < count; at += batchSize) {
    const response = await tenant.service.app.inject({
      method: 'POST',
      url: '/api/v1/signals',
      headers: tenant.headers,
      payload: { signals: signals.slice(at, at + batchSize) },
    })
    assert.equal(response.statusCode, 200, response.body)
    const rejected = response.json().data.find(({ status }: { status: number }) => status >= 300)
    assert.equal(rejected, undefined, JSON.stringify(rejected))
  }
}

/** So many days ago, and not on the hour, when changes rarely happen. */
export function changeTime(now: Instant, daysAgo: number): Instant {
  return now - daysAgo * day + (daysAgo > 0 ? 17 * minute + 3 : 0)
}

/** The commit of the change with this number. */
export function commitOf(i: number): string {
  return String(i).repeat(40)
}

/** Records changes, each with the votes until the next one, and judges the prompt. */
export async function judgedChanges(
  tenant: Tenant,
  list: { daysAgo: number; rate: number; count?: number }[],
  untilDaysAgo = 0,
): Promise<number[]> {
  const { service } = tenant
  const at = (daysAgo: number) => changeTime(service.now, daysAgo)
  const ids: number[] = []
  for (const [i, { daysAgo, rate, count = 1_200 }] of list.entries()) {
    const { id } = await tenant.recordEntry({ createdAt: at(daysAgo), commitSha: commitOf(i + 1) })
    ids.push(id)
    const until = at(list[i + 1]?.daysAgo ?? untilDaysAgo)
    if (count > 0) await postVotes(tenant, { from: at(daysAgo) + 1, until, count, rate })
  }
  await service.judge.round()
  return ids
}

export async function regressionsOf(tenant: Tenant, query = '', path = tenant.path): Promise<RegressionBody[]> {
  return listed(tenant, `${path}/regressions${query}`)
}

export async function shiftsOf(tenant: Tenant, path = tenant.path, query = ''): Promise<ShiftBody[]> {
  return listed(tenant, `${path}/shifts${query}`)
}

async function listed<Item>({ service, headers }: Tenant, url: string): Promise<Item[]> {
  const response = await service.app.inject({ url, headers })
  assert.equal(response.statusCode, 200, response.body)
  return response.json().data
}
