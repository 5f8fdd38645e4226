import { monitorEventLoopDelay, performance } from 'node:perf_hooks'
import { counter, type Family, gauge } from './text-format.ts'

export interface ProcessMetrics {
  families(): Family[]
  stop(): void
}

// The monitor measures the whole interval between two of its timers, so this much is not delay.
const resolutionMs = 20
const nanoseconds = 1e-9
const microseconds = 1e-6

export function createProcessMetrics(): ProcessMetrics {
  const delay = monitorEventLoopDelay({ resolution: resolutionMs })
  delay.enable()
  return {
    stop: () => delay.disable(),
    families() {
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
          Object.entries({ heap_used: heapUsed, heap_total: heapTotal, external }).map(([kind, value]) => ({
            labels: { kind },
            value,
          })),
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
