import { once } from 'node:events'
import { setTimeout as pause } from 'node:timers/promises'
import { parentPort, Worker, workerData } from 'node:worker_threads'
import { processorSeconds } from '../testing/processes.ts'

/** Sends the same request over and over, as a load balancer checks health: each time on a new connection. */
export interface Probe {
  url: string
  headers?: Record<string, string>
  intervalMs: number
  /** The process that answers, if its processor time matters. */
  pid?: number
}

export interface Probed {
  /** When the request was sent, in milliseconds since 1970. */
  at: number
  /** 0 without a response. */
  status: number
  ms: number
  /** What the process used of the processor meanwhile, for everything it did. */
  processorMs: number
}

/** Runs in a thread of its own, so that it measures the service and not the load of its own process. */
export async function startProbe(probe: Probe): Promise<() => Promise<Probed[]>> {
  const probed: Probed[] = []
  const worker = new Worker(new URL(import.meta.url), { workerData: probe })
  worker.on('message', (one: Probed) => probed.push(one))
  await once(worker, 'message')
  return async () => {
    await worker.terminate()
    return probed.toSorted((a, b) => a.ms - b.ms)
  }
}

if (parentPort !== null && workerData !== null) {
  const { url, headers, intervalMs, pid } = workerData as Probe
  const processorMs = () => (pid === undefined ? 0 : Math.round(processorSeconds({ process: { pid } }) * 1_000))
  for (;;) {
    const [at, start, before] = [Date.now(), performance.now(), processorMs()]
    const response = await fetch(url, { headers: { ...headers, connection: 'close' } }).catch(() => null)
    await response?.arrayBuffer()
    const [ms, after] = [performance.now() - start, processorMs()]
    parentPort.postMessage({ at, status: response?.status ?? 0, ms, processorMs: after - before })
    await pause(intervalMs)
  }
}
