import { Agent } from 'node:http'
import type { Account } from '../testing/account.ts'
import { send } from './http.ts'
import { importedNumber, type SentSignals } from './senders.ts'

export interface Reconciled {
  stored: number
  rejected: number
  unknown: number
  /** Signals of unknown fate that are stored. */
  'unknown but stored': number
}

/** Compares the responses with the stored signals. Throws at the first signal that is lost, stored twice or miscounted. */
export async function reconcile(
  port: number,
  accounts: Account[],
  { fates, unexpected }: SentSignals,
): Promise<Reconciled> {
  if (unexpected.length > 0) throw new Error(`${unexpected.length} unexpected responses, such as ${unexpected[0]}`)
  const totals: Reconciled = { stored: 0, rejected: 0, unknown: 0, 'unknown but stored': 0 }
  for (const [i, account] of accounts.entries()) {
    const signals = await exportSignals(port, account)
    const isFull = checkMonths(signals, await monthlyUsage(port, account), account)
    const copiesOf = Map.groupBy(signals, ({ metadata }) => metadata.number)
    copiesOf.delete(importedNumber)
    for (const [number, fate] of fates) {
      if (number % accounts.length !== i) continue
      const copies = copiesOf.get(number)?.length ?? 0
      copiesOf.delete(number)
      totals[fate === 'over limit' || fate === 'shed' ? 'rejected' : fate]++
      if (copies > 1) throw new Error(`signal ${number} is stored ${copies} times`)
      if (fate === 'stored' && copies === 0) throw new Error(`signal ${number} was answered with 201 and is lost`)
      if (fate === 'unknown') totals['unknown but stored'] += copies
      else if (fate !== 'stored' && copies === 1) throw new Error(`signal ${number} was rejected and is stored`)
      if (fate === 'over limit' && !isFull) throw new Error(`signal ${number} was rejected below the limit`)
    }
    if (copiesOf.size > 0) throw new Error(`organisation ${i} stores ${copiesOf.size} signals that were never sent`)
  }
  return totals
}

interface StoredSignal {
  created_at: string
  metadata: { number: number }
}

/** Each month's counter equals its signals, within the limit. Returns whether one of them is at the limit. */
function checkMonths(signals: StoredSignal[], usage: Map<string, number>, { limit }: Account): boolean {
  const stored = Map.groupBy(signals, ({ created_at }) => created_at.slice(0, 7))
  for (const month of new Set([...usage.keys(), ...stored.keys()])) {
    const [used = 0, count = 0] = [usage.get(month), stored.get(month)?.length]
    if (used !== count) throw new Error(`${used} signals counted and ${count} stored in ${month}`)
    if (used > limit) throw new Error(`${used} signals stored in ${month} with a limit of ${limit}`)
  }
  return [...usage.values()].includes(limit)
}

async function exportSignals(port: number, { key, promptId }: Account): Promise<StoredSignal[]> {
  const text = await read(port, key, `prompts/${promptId}/signals/export?format=ndjson`)
  return text.split('\n').flatMap((line) => (line === '' ? [] : [JSON.parse(line)]))
}

async function monthlyUsage(port: number, { key }: Account): Promise<Map<string, number>> {
  const { months } = JSON.parse(await read(port, key, 'usage')).data as { months: { month: string; used: number }[] }
  return new Map(months.map(({ month, used }) => [month, used]))
}

async function read(port: number, key: string, path: string): Promise<string> {
  const { status, body } = await send(new Agent(), port, { path: `/api/v1/${path}`, key })
  if (status !== 200) throw new Error(`${path} was answered with ${status}: ${body}`)
  return body
}
