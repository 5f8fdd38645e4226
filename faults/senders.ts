import { Agent } from 'node:http'
import { setTimeout as pause } from 'node:timers/promises'
import type { Account } from '../testing/account.ts'
import { type HttpResponse, send } from './http.ts'

/** The number of imported signals, which no sender sent. */
export const importedNumber = -1

/** What a sender knows about its signal: answered with 201, 429 or, under overload, 500 with Retry-After; or not at all. */
export type Fate = 'stored' | 'over limit' | 'shed' | 'unknown'

export interface SentSignals {
  /** By the number that each signal has in its metadata. */
  fates: Map<number, Fate>
  /** Responses that are never correct, such as 400 for a valid signal. */
  unexpected: string[]
}

export interface Senders extends SentSignals {
  /** How many signals were answered with 201 so far. */
  stored(): number
  /** How many requests had no response, or a 5xx, repeated ones included. */
  failed(): number
  stop(): Promise<void>
}

/**
 * Clients that send signals as fast as they can, whatever happens to the service. Half of them use an idempotency key and repeat
 * a signal until it gets a response, as docs/api.md says. The others cannot, so without a response its fate stays unknown.
 */
export function startSenders(port: () => number, accounts: Account[], count: number): Senders {
  const agent = new Agent({ keepAlive: true, maxSockets: count })
  const fates = new Map<number, Fate>()
  const unexpected: string[] = []
  let [next, stored, failed, stopped] = [0, 0, 0, false]

  async function sendSignal(number: number): Promise<void> {
    const account = accounts[number % accounts.length] as Account
    const withKey = number % 2 === 0
    fates.set(number, 'unknown')
    for (;;) {
      const response = await send(agent, port(), signalRequest(account, number, withKey)).catch(() => null)
      if (response !== null && response.status < 500) {
        fates.set(number, fateOf(response))
        return
      }
      failed++
      if (response !== null && !response.body.includes('"internal_error"')) note(response)
      if (!withKey || stopped) return
      await pause(20)
    }
  }

  function fateOf(response: HttpResponse): Fate {
    if (response.status !== 201 && response.status !== 429) note(response)
    if (response.status !== 201) return 'over limit'
    stored++
    return 'stored'
  }

  function note({ status, body }: HttpResponse): void {
    unexpected.push(`${status} ${body}`)
  }

  const senders = Array.from({ length: count }, async () => {
    while (!stopped) {
      const number = next++
      await sendSignal(number)
      // Without this, a sender would try a stopped service a thousand times a second.
      if (fates.get(number) === 'unknown') await pause(5)
    }
  })
  return {
    fates,
    unexpected,
    stored: () => stored,
    failed: () => failed,
    async stop() {
      stopped = true
      await Promise.all(senders)
      agent.destroy()
    },
  }
}

export function signalRequest({ key, promptId }: Account, number: number, withKey: boolean) {
  return {
    method: 'POST',
    path: `/api/v1/prompts/${promptId}/signals`,
    key,
    body: `{"value":"${number % 3 === 0 ? 'negative' : 'positive'}","metadata":{"number":${number}}}`,
    ...(withKey && { headers: { 'idempotency-key': `signal-${number}` } }),
  }
}
