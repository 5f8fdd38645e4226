import { createProcessMetrics } from './process.ts'
import { createRepositoryMetrics, type RepositoryMetrics } from './repositories.ts'
import { createRequestMetrics, type RequestMetrics } from './requests.ts'
import { createSignalMetrics, type SignalMetrics } from './signals.ts'
import { readSources, type Sources } from './sources.ts'
import { formatMetrics } from './text-format.ts'

/** Requests, signals and repositories are counted as they happen; the rest is read from `sources` on every scrape. */
export interface Metrics {
  requests: RequestMetrics
  signals: SignalMetrics
  repositories: RepositoryMetrics
  text(sources: Sources): Promise<string>
  stop(): void
}

export function createMetrics(): Metrics {
  const requests = createRequestMetrics()
  const signals = createSignalMetrics()
  const repositories = createRepositoryMetrics()
  const process = createProcessMetrics()
  return {
    requests,
    signals,
    repositories,
    text: async (sources) =>
      formatMetrics([
        ...(await readSources(sources)),
        ...requests.families(),
        ...signals.families(),
        ...repositories.families(),
        ...process.families(),
      ]),
    stop: process.stop,
  }
}
