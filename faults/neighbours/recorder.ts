import { once } from 'node:events'
import { Agent } from 'node:http'
import { parentPort, Worker, workerData } from 'node:worker_threads'
import type { Account } from '../../testing/account.ts'
import { send } from '../http.ts'
import { signalRequest } from '../senders.ts'

/** A signal that was sent, and how it was answered. */
export interface RecordedSignal {
  number: number
  at: number
  /** 0 without a response. */
  status: number
  ms: number
}

interface Recording {
  port: number
  account: Account
  intervalMs: number
}

/** Sends signals from a thread of its own, however fast they are answered, until the returned function is called. */
export async function startRecording(recording: Recording): Promise<() => Promise<RecordedSignal[]>> {
  const recorded: RecordedSignal[] = []
  const thread = new Worker(new URL(import.meta.url), { workerData: { recording } })
  thread.on('message', (signal: RecordedSignal) => recorded.push(signal))
  await once(thread, 'message')
  return async () => {
    thread.postMessage('stop')
    await once(thread, 'exit')
    return recorded
  }
}

if (parentPort !== null && workerData !== null && 'recording' in workerData) {
  const port = parentPort
  const { port: servicePort, account, intervalMs } = workerData.recording as Recording
  const agent = new Agent({ keepAlive: true })
  const sending = new Set<Promise<void>>()
  let number = 0

  async function record(): Promise<void> {
    const signal = { number: number++, at: Date.now(), start: performance.now() }
    const response = await send(agent, servicePort, signalRequest(account, signal.number, false)).catch(() => null)
    const { start, ...sent } = signal
    port.postMessage({ ...sent, status: response?.status ?? 0, ms: performance.now() - start })
  }

  const timer = setInterval(() => {
    const one = record()
    sending.add(one)
    void one.finally(() => sending.delete(one))
  }, intervalMs)
  port.once('message', async () => {
    clearInterval(timer)
    await Promise.all(sending)
    agent.destroy()
  })
}
