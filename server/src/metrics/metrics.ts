import { monitorEventLoopDelay, performance } from 'node:perf_hooks'
import type { RecordOutcome } from '../domain/signals/signal.ts'
import { createHistogram, type Histogram } from './histogram.ts'
import { readSources, type Sources } from './sources.ts'
import { by, counter, type Family, formatMetrics, gauge, histogram } from './text-format.ts'

export type Metrics = ReturnType<typeof createMetrics>

/** Requests and signals are counted as they happen; the rest is read from `sources` on every scrape. */
export function createMetrics() {
  const requests = createRequestMetrics()
  const signals = createSignalMetrics()
  const process = createProcessMetrics()
  return {
    requests,
    signals,
    text: async (sources: Sources) =>
      formatMetrics([
        ...(await readSources(sources)),
        ...requests.families(),
        ...signals.families(),
        ...process.families(),
      ]),
    stop: process.stop,
  }
}

function createSignalMetrics() {
  const counts: Record<RecordOutcome['kind'], number> = {
    recorded: 0,
    replaced: 0,
    repeated: 0,
    key_reused: 0,
    unknown_subject: 0,
    over_limit: 0,
  }
  const sizes = createHistogram([1, 2, 4, 8, 16, 32, 64, 128, 256])
  const seconds = createHistogram([0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10])
  return {
    batch(outcomes: RecordOutcome[], milliseconds: number) {
      sizes.observe(outcomes.length)
      seconds.observe(milliseconds / 1_000)
      for (const { kind } of outcomes) counts[kind]++
    },
    families: (): Family[] => [
      counter(
        'promptledger_signals_total',
        'Signals by outcome. over_limit: rejected because the monthly limit of the plan is reached.',
        by('outcome', counts),
      ),
      histogram('promptledger_signal_batch_size', 'Signals committed in one batch.', sizes.samples()),
      histogram('promptledger_signal_batch_duration_seconds', 'Time to commit a batch of signals.', seconds.samples()),
    ],
  }
}

interface Route {
  method: string
  pattern: string
  byStatus: Float64Array
  seconds: Histogram
}

const bounds = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30]
const minStatus = 100
const maxStatus = 599

/** Counts responses by route pattern, never by path, so clients cannot create new series. */
function createRequestMetrics() {
  const routes: Route[] = []
  return {
    /** Registers a route and returns its handle for `responded`. */
    route(method: string, pattern: string): number {
      const byStatus = new Float64Array(maxStatus - minStatus + 1)
      return routes.push({ method, pattern, byStatus, seconds: createHistogram(bounds) }) - 1
    },
    responded(route: number, status: number, milliseconds: number): void {
      const { byStatus, seconds } = routes[route] as Route
      const i = status - minStatus
      byStatus[i] = (byStatus[i] as number) + 1
      seconds.observe(milliseconds / 1_000)
    },
    families(): Family[] {
      const used = routes.filter(({ byStatus }) => byStatus.some((count) => count > 0))
      return [
        counter(
          'promptledger_http_requests_total',
          'Requests responded to, by method, route and status. Route "none": no route matched.',
          used.flatMap(({ method, pattern: route, byStatus }) =>
            [...byStatus.entries()]
              .filter(([, count]) => count > 0)
              .map(([i, value]) => ({ labels: { method, route, status: String(i + minStatus) }, value })),
          ),
        ),
        histogram(
          'promptledger_http_request_duration_seconds',
          'Time from the request headers to the start of the response, by method and route.',
          used.flatMap(({ method, pattern: route, seconds }) => seconds.samples({ method, route })),
        ),
      ]
    },
  }
}

// The monitor measures the whole interval between two of its timers, so this much is not delay.
const resolutionMs = 20
const nanoseconds = 1e-9
const microseconds = 1e-6

function createProcessMetrics() {
  const delay = monitorEventLoopDelay({ resolution: resolutionMs })
  delay.enable()
  return {
    stop: () => delay.disable(),
    families(): Family[] {
      const { user, system } = process.cpuUsage()
      const { rss, heapUsed, heapTotal, external } = process.memoryUsage()
      const percentiles = { '50': delay.percentile(50), '99': delay.percentile(99), '100': delay.max }
      // Each scrape covers the time since the one before.
      delay.reset()
      return [
        counter('process_cpu_user_seconds_total', 'User CPU time.', [{ value: user * microseconds }]),
        counter('process_cpu_system_seconds_total', 'System CPU time.', [{ value: system * microseconds }]),
        gauge('process_start_time_seconds', 'Start time of the process since the Unix epoch.', [
          { value: performance.timeOrigin / 1_000 },
        ]),
        gauge('process_resident_memory_bytes', 'Resident memory of the process.', [{ value: rss }]),
        gauge(
          'promptledger_process_memory_bytes',
          'Memory of the process, by kind.',
          by('kind', { heap_used: heapUsed, heap_total: heapTotal, external }),
        ),
        gauge(
          'promptledger_event_loop_delay_seconds',
          'Event loop delay since the last scrape, by percentile. 100 is the maximum.',
          Object.entries(percentiles).map(([percentile, value]) => ({
            // Prometheus reserves the label quantile for summaries.
            labels: { percentile },
            value: Math.max(0, value * nanoseconds - resolutionMs / 1_000) || 0,
          })),
        ),
        counter('promptledger_event_loop_active_seconds_total', 'Time the event loop was busy.', [
          { value: performance.eventLoopUtilization().active / 1_000 },
        ]),
      ]
    },
  }
}
