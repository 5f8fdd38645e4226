import type { Attempt } from '../domain/alerts/channel.ts'
import { hour } from '../domain/time.ts'
import { type Network, type RequestResult, sendRequest } from '../net/request.ts'
import { line } from './line.ts'

type Response = Extract<RequestResult, { kind: 'response' }>

const maxResponseLength = 500

/** A request without a usable response is always worth another attempt. */
export function attemptOf(result: RequestResult, judge: (response: Response) => Pick<Attempt, 'outcome' | 'error'>) {
  if (result.kind === 'failure') return retry(result.status, result.reason)
  const { status, headers, body } = result
  return { status, response: line(body, maxResponseLength) || null, ...judge(result), ...waitOf(headers) }
}

/** Sends JSON to a receiver, whose response `judge` judges. */
export async function post(
  network: Network,
  url: string,
  value: object,
  judge: (response: Response) => Pick<Attempt, 'outcome' | 'error'>,
): Promise<Attempt> {
  const headers = { 'content-type': 'application/json' }
  return attemptOf(await sendRequest(network, url, { method: 'POST', headers, body: JSON.stringify(value) }), judge)
}

export function retry(status: number | null, error: string): Attempt {
  return { outcome: 'retry', status, response: null, error }
}

export function rejected(status: number | null, error: string): Attempt {
  return { outcome: 'rejected', status, response: null, error }
}

export const sent = { outcome: 'sent', error: null } as const

/** From a `Retry-After` in seconds. Dates are ignored: they depend on the receiver's clock. */
export function waitOf({ 'retry-after': seconds = '' }: Response['headers']): Pick<Attempt, 'retryAfterMs'> {
  return /^\d{1,9}$/.test(seconds) ? { retryAfterMs: Math.min(Number(seconds) * 1_000, hour) } : {}
}
