import { createProcessMetrics } from './process.ts'
import { createRequestMetrics, type RequestMetrics } from './requests.ts'
import { createSignalMetrics, type SignalMetrics } from './signals.ts'
import { readSources, type Sources } from './sources.ts'
import { formatMetrics } from './text-format.ts'

/** Requests and signals are counted as they happen; the rest is read from `sources` on every scrape. */
export interface Metrics {
  requests: RequestMetrics
  signals: SignalMetrics
  text(sources: Sources): Promise<string>
  stop(): void
}

export function createMetrics(): Metrics {
  const requests = createRequestMetrics()
  const signals = createSignalMetrics()
  const process = createProcessMetrics()
  return {
    requests,
    signals,
    text: async (sources) =>
      formatMetrics([
        ...(await readSources(sources)),
        ...requests.families(),
        ...signals.families(),
        ...process.families(),
      ]),
    stop: process.stop,
  }
}
