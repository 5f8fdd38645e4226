import type { Prompt } from '../prompt.ts'
import { dayStart, type Instant } from '../time.ts'
import { type Interval, intervalLength, type Span } from './interval.ts'
import type { IntervalTally, SignalStore } from './signal.ts'

// As many as a chart can show side by side.
const maxSteps = 200
/** An interval with fewer signals says little: its 95% confidence range is more than 30 percentage points wide. */
const minSignals = 30
// In a span of a few weeks, one step a week would show nothing of its course, so days with fewer signals are better.
const minWeeks = 8
const minSignalsOfDay = 10

/**
 * The shortest interval for a chart of the span from its first signal on: at most `maxSteps`, with at least `minSignals` in the
 * average interval that has any, or `minSignalsOfDay` by the day if the span has fewer than `minWeeks`. A week if no interval has
 * enough.
 */
export async function chooseInterval(
  { signals }: { signals: Pick<SignalStore, 'tallyByInterval'> },
  prompt: Prompt,
  { from, until }: Span,
  now: Instant,
): Promise<Interval> {
  const days = await signals.tallyByInterval(prompt, { from: dayStart(from), until }, 'day')
  const first = Math.max(from, days[0]?.start ?? from)
  const steps = (interval: Interval) => (Math.min(until, Math.max(now, first)) - first) / intervalLength(interval)
  const fits = (interval: Interval) => steps(interval) <= maxSteps
  if (fits('hour') && hasEnough(await signals.tallyByInterval(prompt, { from: dayStart(first), until }, 'hour')))
    return 'hour'
  return fits('day') && hasEnough(days, steps('week') < minWeeks ? minSignalsOfDay : minSignals) ? 'day' : 'week'
}

function hasEnough(tallies: IntervalTally[], min = minSignals): boolean {
  const total = tallies.reduce((sum, { positive, negative }) => sum + positive + negative, 0)
  return total > 0 && total / tallies.length >= min
}
