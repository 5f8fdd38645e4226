import { onlineManager } from '@tanstack/react-query'
import { useSyncExternalStore } from 'react'

/** How the last requests fared: `away` if no response arrived, `overloaded` if the service asked to come back later. */
type Connection = 'online' | 'away' | 'overloaded'

const firstProbeMs = 1_000
const maxProbeMs = 15_000
const probeTimeoutMs = 5_000
// From a proxy in front of a service that is not running.
const gatewayStatuses = [502, 503, 504]

let connection: Connection = 'online'
let probeDelayMs = firstProbeMs
let timer: ReturnType<typeof setTimeout> | undefined
const listeners = new Set<() => void>()

export function useConnection(): Connection {
  return useSyncExternalStore(subscribe, () => connection)
}

function subscribe(listener: () => void): () => void {
  listeners.add(listener)
  return () => listeners.delete(listener)
}

/** Sends a request, and notes from its outcome whether the service can be reached. */
export async function observedFetch(input: RequestInfo | URL, init?: RequestInit): Promise<Response> {
  try {
    const response = await fetch(input, init)
    setConnection(stateAfter(response))
    return response
  } catch (error) {
    // A request that the page itself cancelled says nothing.
    if (!init?.signal?.aborted) setConnection('away')
    throw error
  }
}

function stateAfter({ status, headers }: Response): Connection {
  if (gatewayStatuses.includes(status)) return 'away'
  return status === 500 && headers.has('Retry-After') ? 'overloaded' : 'online'
}

function setConnection(next: Connection): void {
  if (next === connection) return
  connection = next
  clearTimeout(timer)
  probeDelayMs = firstProbeMs
  if (next === 'away') timer = setTimeout(probe, probeDelayMs)
  // While the service is away, queries pause and keep their data. Once it is back, they continue.
  onlineManager.setOnline(next !== 'away')
  for (const listener of listeners) listener()
}

/** Asks whether the service is back, again and again with growing delays. */
export async function probe(): Promise<void> {
  clearTimeout(timer)
  try {
    const { status } = await fetch('/healthz', { cache: 'no-store', signal: AbortSignal.timeout(probeTimeoutMs) })
    if (!gatewayStatuses.includes(status)) return setConnection('online')
  } catch {
    // Not back yet.
  }
  probeDelayMs = Math.min(maxProbeMs, probeDelayMs * 2)
  // With jitter, so that many open pages do not ask at once.
  timer = setTimeout(probe, probeDelayMs * (0.75 + Math.random() / 2))
}

/** Resolves as soon as the service can be reached. */
export async function whenOnline(): Promise<void> {
  await probe()
  while (connection !== 'online') {
    await new Promise<void>((resolve) => {
      const unsubscribe = subscribe(() => {
        unsubscribe()
        resolve()
      })
    })
  }
}

onlineManager.setEventListener(() => {
  const onOffline = () => setConnection('away')
  window.addEventListener('online', probe)
  window.addEventListener('offline', onOffline)
  return () => {
    window.removeEventListener('online', probe)
    window.removeEventListener('offline', onOffline)
  }
})
