import type { RecordOutcome } from '../domain/signals/signal.ts'
import { createHistogram } from './histogram.ts'
import { counter, type Family } from './text-format.ts'

export interface SignalMetrics {
  batch(outcomes: RecordOutcome[], milliseconds: number): void
  families(): Family[]
}

export function createSignalMetrics(): SignalMetrics {
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
    batch(outcomes, milliseconds) {
      sizes.observe(outcomes.length)
      seconds.observe(milliseconds / 1_000)
      for (const { kind } of outcomes) counts[kind]++
    },
    families: () => [
      counter(
        'promptledger_signals_total',
        'Signals by outcome. over_limit: rejected because the monthly limit of the plan is reached.',
        Object.entries(counts).map(([outcome, value]) => ({ labels: { outcome }, value })),
      ),
      {
        name: 'promptledger_signal_batch_size',
        type: 'histogram',
        help: 'Signals committed in one batch.',
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
