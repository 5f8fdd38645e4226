import { monitorEventLoopDelay, performance } from 'node:perf_hooks'
import type { Family } from './text.ts'

export interface ProcessMetrics {
  families(): Family[]
  stop(): void
}

// Milliseconds between two looks at the clock, which are part of what is measured.
const resolution = 20
const nanoseconds = 1e-9
const microseconds = 1e-6

export function processMetrics(): ProcessMetrics {
  const delay = monitorEventLoopDelay({ resolution })
  delay.enable()
  return {
    stop: () => delay.disable(),
    families() {
      const { user, system } = process.cpuUsage()
      const { rss, heapUsed, heapTotal, external } = process.memoryUsage()
      const delays = { '0.5': delay.percentile(50), '0.99': delay.percentile(99), '1': delay.max }
      // So that each look tells of the time since the one before.
      delay.reset()
      return [
        counter('process_cpu_user_seconds_total', 'Processor time in our own code.', user * microseconds),
        counter('process_cpu_system_seconds_total', 'Processor time in the system.', system * microseconds),
        gauge('process_start_time_seconds', 'When the process started, since 1970.', performance.timeOrigin / 1_000),
        gauge('process_resident_memory_bytes', 'Memory of the process.', rss),
        {
          name: 'promptledger_process_memory_bytes',
          type: 'gauge',
          help: 'Memory of the process by what it is for.',
          samples: Object.entries({ heap_used: heapUsed, heap_total: heapTotal, external }).map(([kind, value]) => ({
            labels: { kind },
            value,
          })),
        },
        {
          name: 'promptledger_event_loop_delay_seconds',
          type: 'gauge',
          help: 'By how much the event loop was late since the look before; share 1 is the worst.',
          samples: Object.entries(delays).map(([share, value]) => ({
            labels: { share },
            value: Math.max(0, value * nanoseconds - resolution / 1_000) || 0,
          })),
        },
        counter(
          'promptledger_event_loop_active_seconds_total',
          'Time in which the event loop had something to do.',
          performance.eventLoopUtilization().active / 1_000,
        ),
      ]
    },
  }
}

function counter(name: string, help: string, value: number): Family {
  return { name, type: 'counter', help, samples: [{ value }] }
}

function gauge(name: string, help: string, value: number): Family {
  return { name, type: 'gauge', help, samples: [{ value }] }
}
