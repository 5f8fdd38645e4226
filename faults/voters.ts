import { Agent } from 'node:http'
import { setTimeout as pause } from 'node:timers/promises'
import type { Account } from '../testing/account.ts'
import { assertSumsAgree } from '../testing/signal-sums.ts'
import { send } from './http.ts'

type Value = 'positive' | 'negative' | null

interface Subject {
  /** The last vote that was answered. Null before the first. */
  answered: { number: number; value: Value } | null
  /** The vote that was sent last, answered or not. */
  sent: { number: number; value: Value } | null
}

export interface Voters {
  stop(): Promise<void>
  /** Throws if a subject does not hold its last vote, or if sums, votes and usage differ. Returns how many votes were answered. */
  check(url: string, port: number): Promise<number>
}

const subjectsPerVoter = 5
const values: Value[] = ['positive', 'negative', null]

/**
 * Clients that change their votes on a few subjects as fast as they can, and repeat each request until it is answered. Every second
 * client sends its votes in batches.
 */
export function startVoters(port: () => number, account: Account, count: number): Voters {
  const agent = new Agent({ keepAlive: true, maxSockets: count })
  const subjects = new Map<string, Subject>()
  const unexpected: string[] = []
  let [next, answers, isStopped] = [0, 0, false]

  /** Notes the next vote on the subject as sent, and returns its fields. */
  function nextVote(name: string) {
    const number = next++
    const subject = subjects.get(name) ?? { answered: null, sent: null }
    subjects.set(name, subject)
    // The first vote cannot be a withdrawal.
    const value = subject.sent === null ? 'positive' : (values[number % values.length] as Value)
    subject.sent = { number, value }
    const fields = { value, subject: name, version: `abcdef${number % 3}`, metadata: { number } }
    const key = `vote-${number}`
    const answer = (status: number, body: unknown) => {
      if (status > 201) unexpected.push(`${status} ${JSON.stringify(body)}`)
      subject.answered = { number, value }
      answers++
    }
    return { fields, key, answer }
  }

  /** Repeats the request until it is answered. Null if there was no answer before the end. */
  async function sendUntilAnswered(path: string, body: object, headers: Record<string, string>) {
    const request = { method: 'POST', path: `/api/v1/${path}`, key: account.key, body: JSON.stringify(body), headers }
    while (!isStopped) {
      const response = await send(agent, port(), request).catch(() => null)
      if (response !== null && response.status < 500) return response
      await pause(20)
    }
    return null
  }

  async function vote(name: string): Promise<void> {
    const { fields, key, answer } = nextVote(name)
    const path = `prompts/${account.promptId}/signals`
    const response = await sendUntilAnswered(path, fields, { 'idempotency-key': key })
    if (response !== null) answer(response.status, response.body)
  }

  async function voteTogether(names: string[]): Promise<void> {
    let open = names.map(nextVote)
    while (open.length > 0) {
      const signals = open.map(({ fields, key }) => ({ prompt: account.promptId, ...fields, idempotency_key: key }))
      const response = await sendUntilAnswered('signals', { signals }, {})
      if (response === null) return
      if (response.status !== 200) {
        unexpected.push(`${response.status} ${response.body}`)
        return
      }
      const results = JSON.parse(response.body).data as { status: number }[]
      // Part of a batch can fail, and is sent again.
      open = open.filter(({ answer }, i) => {
        const { status } = results[i] as { status: number }
        if (status < 500) answer(status, results[i])
        return status >= 500
      })
    }
  }

  const voters = Array.from({ length: count }, async (_, voter) => {
    const names = Array.from({ length: subjectsPerVoter }, (_, i) => `subject-${voter}-${i}`)
    for (let i = 0; !isStopped; i++) {
      if (voter % 2 === 0) await vote(names[i % subjectsPerVoter] as string)
      // The same subject twice: votes of a batch are cast in order.
      else await voteTogether([...names, names[0] as string])
    }
  })

  return {
    async stop() {
      isStopped = true
      await Promise.all(voters)
      agent.destroy()
    },
    async check(url, port) {
      if (unexpected.length > 0) throw new Error(`${unexpected.length} unexpected responses, such as ${unexpected[0]}`)
      const stored = await exportVotes(port, account)
      for (const [name, { answered, sent }] of subjects) {
        const now = stored.get(name) ?? { number: null, value: null }
        const fits = (vote: Subject['sent']) =>
          vote === null || vote.value === null
            ? now.value === null
            : now.value === vote.value && now.number === vote.number
        if (!fits(answered) && !fits(sent)) {
          throw new Error(`${name} holds ${JSON.stringify(now)}, and its last vote was ${JSON.stringify(answered)}`)
        }
      }
      await assertSumsAgree(url)
      return answers
    },
  }
}

async function exportVotes(port: number, { key, promptId }: Account) {
  const path = `/api/v1/prompts/${promptId}/signals/export?format=ndjson`
  const { status, body } = await send(new Agent(), port, { path, key })
  if (status !== 200) throw new Error(`the export was answered with ${status}: ${body}`)
  const signals = body.split('\n').flatMap((line) => (line === '' ? [] : [JSON.parse(line)]))
  return new Map<string, { number: number; value: Value }>(
    signals.map(({ subject, value, metadata }) => [subject, { number: metadata.number, value }]),
  )
}
