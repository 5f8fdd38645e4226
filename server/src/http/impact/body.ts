import type { Impact } from '../../domain/impact/impact.ts'
import { isoTime } from '../../domain/time.ts'
import type { EffectBody } from './schema.ts'

/** What a change did, without the change. */
export function toEffectBody({ liveFrom, liveUntil, ...figures }: Impact): EffectBody {
  const { before, after, difference, interval, verdict } = figures
  return {
    live_from: isoTime(liveFrom),
    live_until: liveUntil === null ? null : isoTime(liveUntil),
    before,
    after,
    difference: difference === null ? null : rounded(difference),
    interval: interval === null ? null : interval.map(rounded),
    verdict,
  }
}

/** Beyond six decimals there is nothing but the noise of the computation. */
function rounded(rate: number): number {
  return Math.round(rate * 1e6) / 1e6
}
