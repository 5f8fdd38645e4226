import { figures, type Sources } from './figures.ts'
import { type FollowingMetrics, followingMetrics } from './following.ts'
import { processMetrics } from './process.ts'
import { type RequestMetrics, requestMetrics } from './requests.ts'
import { type SignalMetrics, signalMetrics } from './signals.ts'
import { format } from './text.ts'

/** What is told of while it happens, and what is read when somebody looks. */
export interface Metrics {
  requests: RequestMetrics
  signals: SignalMetrics
  following: FollowingMetrics
  text(sources: Sources): Promise<string>
  stop(): void
}

export function newMetrics(): Metrics {
  const requests = requestMetrics()
  const signals = signalMetrics()
  const following = followingMetrics()
  const process = processMetrics()
  return {
    requests,
    signals,
    following,
    text: async (sources) =>
      format([
        ...(await figures(sources)),
        ...requests.families(),
        ...signals.families(),
        ...following.families(),
        ...process.families(),
      ]),
    stop: process.stop,
  }
}
