import type { RecordOutcome } from '../domain/signals/signal.ts'
import { histogram } from './histogram.ts'
import type { Family } from './text.ts'

export interface SignalMetrics {
  batch(outcomes: RecordOutcome[], milliseconds: number): void
  families(): Family[]
}

export function signalMetrics(): SignalMetrics {
  const counts: Record<RecordOutcome['kind'], number> = { recorded: 0, repeated: 0, key_reused: 0, over_limit: 0 }
  const sizes = histogram([1, 2, 4, 8, 16, 32, 64, 128, 256])
  const seconds = histogram([0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10])
  return {
    batch(outcomes, milliseconds) {
      sizes.observe(outcomes.length)
      seconds.observe(milliseconds / 1_000)
      for (const { kind } of outcomes) counts[kind]++
    },
    families: () => [
      {
        name: 'promptledger_signals_total',
        type: 'counter',
        help: 'Signals by what became of them. over_limit: refused, because the month’s limit of the plan is reached.',
        samples: Object.entries(counts).map(([outcome, value]) => ({ labels: { outcome }, value })),
      },
      {
        name: 'promptledger_signal_batch_size',
        type: 'histogram',
        help: 'Signals that were committed together.',
        samples: sizes.samples(),
      },
      {
        name: 'promptledger_signal_batch_duration_seconds',
        type: 'histogram',
        help: 'Time to commit a batch of signals.',
        samples: seconds.samples(),
      },
    ],
  }
}
