import { Agent, type IncomingHttpHeaders, request } from 'node:http'
import type { Account } from '../testing/account.ts'

/** What became of a vote, as far as the voter knows. */
export type Fate = 'stored' | 'refused' | 'unknown'

export interface Votes {
  /** By the number that each vote has in its metadata. */
  fates: Map<number, Fate>
  /** Answers that no promise allows, such as 400 or 201 for a vote over the limit. */
  wrong: string[]
  stop(): Promise<void>
}

export interface Answer {
  status: number
  headers: IncomingHttpHeaders
  body: string
}

/**
 * People who vote as fast as they can, through whatever happens to the service. Those with an idempotency key repeat until
 * they are answered, as the interface tells them to; the others cannot, and what they do not know stays unknown.
 */
export function startVoting(portOf: () => number, accounts: Account[], voters: number): Votes {
  const agent = new Agent({ keepAlive: true, maxSockets: voters })
  const fates = new Map<number, Fate>()
  const wrong: string[] = []
  let next = 0
  let stopped = false

  async function vote(number: number): Promise<void> {
    const account = accounts[number % accounts.length] as Account
    const keyed = number % 2 === 0
    fates.set(number, 'unknown')
    for (;;) {
      const answer = await send(agent, portOf(), account, number, keyed).catch(() => null)
      if (answer !== null && answer.status < 500) {
        fates.set(number, fateOf(answer, wrong))
        return
      }
      if (answer !== null && !answer.body.includes('"internal_error"')) wrong.push(`${answer.status} ${answer.body}`)
      if (!keyed || stopped) return
      await pause(20)
    }
  }

  const all = Array.from({ length: voters }, async () => {
    while (!stopped) {
      await vote(next++)
      // Whoever finds nobody there does not ask a thousand times a second.
      if (fates.get(next - 1) === 'unknown') await pause(5)
    }
  })
  return {
    fates,
    wrong,
    async stop() {
      stopped = true
      await Promise.all(all)
      agent.destroy()
    },
  }
}

function fateOf({ status, body }: Answer, wrong: string[]): Fate {
  if (status === 201) return 'stored'
  if (status !== 429) wrong.push(`${status} ${body}`)
  return 'refused'
}

function send(agent: Agent, port: number, { key, promptId }: Account, number: number, keyed: boolean): Promise<Answer> {
  const body = `{"value":"${number % 3 === 0 ? 'negative' : 'positive'}","metadata":{"number":${number}}}`
  return ask(agent, port, 'POST', `/api/v1/prompts/${promptId}/signals`, key, body, keyed ? `vote-${number}` : null)
}

export function ask(
  agent: Agent,
  port: number,
  method: string,
  path: string,
  key: string,
  body: string | null = null,
  idempotencyKey: string | null = null,
): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const headers: Record<string, string> = { Authorization: `Bearer ${key}` }
    if (body !== null) headers['Content-Type'] = 'application/json'
    if (idempotencyKey !== null) headers['Idempotency-Key'] = idempotencyKey
    const sent = request({ agent, host: '127.0.0.1', port, method, path, headers, timeout: 15_000 }, (response) => {
      const chunks: Buffer[] = []
      response.on('data', (chunk) => chunks.push(chunk))
      response.on('end', () => {
        const { statusCode = 0, headers } = response
        resolve({ status: statusCode, headers, body: Buffer.concat(chunks).toString() })
      })
      response.on('error', reject)
    })
    sent.on('timeout', () => sent.destroy(new Error('no answer within 15 s')))
    sent.on('error', reject)
    sent.end(body ?? undefined)
  })
}

export function pause(milliseconds: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, milliseconds))
}
