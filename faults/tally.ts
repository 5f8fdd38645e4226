import { Agent } from 'node:http'
import type { Account } from '../testing/account.ts'
import { ask, type Votes } from './voters.ts'

export interface Tally {
  stored: number
  refused: number
  unknown: number
  /** Votes of unknown fate that turned out to be stored. */
  found: number
}

/** Compares what the voters were told with what the service has. Throws at the first promise that does not hold. */
export async function tallyUp(
  port: number,
  accounts: Account[],
  { fates, wrong }: Pick<Votes, 'fates' | 'wrong'>,
): Promise<Tally> {
  if (wrong.length > 0) throw new Error(`${wrong.length} answers that nothing allows, such as ${wrong[0]}`)
  const agent = new Agent({ keepAlive: true })
  const tally: Tally = { stored: 0, refused: 0, unknown: 0, found: 0 }
  for (const [i, account] of accounts.entries()) {
    const there = await storedNumbers(agent, port, account)
    const used = await usedOf(agent, port, account)
    if (used !== there.length) throw new Error(`${used} counted, ${there.length} stored in organisation ${i}`)
    if (used > account.limit) throw new Error(`${used} stored with a limit of ${account.limit}`)
    const times = new Map<number, number>()
    for (const number of there) times.set(number, (times.get(number) ?? 0) + 1)
    for (const [number, fate] of fates) {
      if (number % accounts.length !== i) continue
      const count = times.get(number) ?? 0
      times.delete(number)
      tally[fate]++
      if (count > 1) throw new Error(`vote ${number} is stored ${count} times`)
      if (fate === 'stored' && count === 0) throw new Error(`vote ${number} was answered 201 and is gone`)
      if (fate === 'refused' && count === 1) throw new Error(`vote ${number} was refused and is stored`)
      if (fate === 'unknown') tally.found += count
    }
    if (times.size > 0) throw new Error(`${times.size} votes are stored that nobody cast`)
  }
  agent.destroy()
  return tally
}

async function storedNumbers(agent: Agent, port: number, { key, promptId }: Account): Promise<number[]> {
  const path = `/api/v1/prompts/${promptId}/signals/export?format=ndjson`
  const { status, body } = await ask(agent, port, 'GET', path, key)
  if (status !== 200) throw new Error(`the export was answered with ${status}: ${body}`)
  const lines = body.split('\n').filter((line) => line !== '')
  return lines.map((line) => JSON.parse(line).metadata.number)
}

async function usedOf(agent: Agent, port: number, { key }: Account): Promise<number> {
  return JSON.parse((await ask(agent, port, 'GET', '/api/v1/usage', key)).body).data.used
}
