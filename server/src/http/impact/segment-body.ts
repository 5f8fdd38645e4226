import type { SegmentsBody } from '../../../../contract/impact.ts'
import { rated } from '../../domain/impact/impact.ts'
import type { SegmentedImpact } from '../../domain/impact/segment-impact.ts'
import { rounded } from './body.ts'

export function toSegmentsBody({ key, mix, segments, isComplete }: SegmentedImpact): SegmentsBody {
  return {
    key,
    complete: isComplete,
    mix: mix && { audience: rounded(mix.audience), within: rounded(mix.within) },
    values: segments.map(({ value, isOther, before, after, difference, effectiveSignals, verdict, explanation }) => ({
      value,
      other: isOther,
      before: rated(before),
      after: rated(after),
      effective_signals: effectiveSignals,
      difference: difference === null ? null : rounded(difference.difference),
      interval: difference === null ? null : difference.interval.map(rounded),
      verdict,
      explanation,
    })),
  }
}
