import { once } from 'node:events'
import { Worker } from 'node:worker_threads'

export interface PacedLoad {
  port: number
  /** Complete HTTP requests, sent in turn. */
  requests: string[]
  perSecond: number
  connections: number
  seconds: number
}

export interface PacedResult {
  sent: number
  /** Milliseconds. */
  p50: number
  p99: number
  /** How many responses had each status. */
  statuses: Record<string, number>
}

/** Sends at a fixed rate, from a thread of its own: two loads at once must not delay each other. */
export async function pace(load: PacedLoad): Promise<PacedResult> {
  const [result] = await once(new Worker(new URL('./pacer.ts', import.meta.url), { workerData: load }), 'message')
  return result
}
