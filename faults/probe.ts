import { once } from 'node:events'
import { parentPort, Worker, workerData } from 'node:worker_threads'

/** Asks for one thing over and over, as load balancers ask for health: each time on a connection of its own. */
export interface Probe {
  url: string
  headers?: Record<string, string>
  /** Milliseconds between an answer and the next question. */
  every: number
}

export interface Answer {
  /** 0 where there was none. */
  status: number
  milliseconds: number
}

/** In a thread of its own, so that it measures the service and not what else its own process has to do. */
export async function startProbe(probe: Probe): Promise<() => Promise<Answer[]>> {
  const answers: Answer[] = []
  const worker = new Worker(new URL(import.meta.url), { workerData: probe })
  worker.on('message', (answer: Answer) => answers.push(answer))
  await once(worker, 'message')
  return async () => {
    await worker.terminate()
    return answers.toSorted((a, b) => a.milliseconds - b.milliseconds)
  }
}

if (parentPort !== null && workerData !== null) {
  const { url, headers, every } = workerData as Probe
  for (;;) {
    const start = performance.now()
    const response = await fetch(url, { headers: { ...headers, connection: 'close' } }).catch(() => null)
    await response?.arrayBuffer()
    parentPort.postMessage({ status: response?.status ?? 0, milliseconds: performance.now() - start })
    await new Promise((resolve) => setTimeout(resolve, every))
  }
}
