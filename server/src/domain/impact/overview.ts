import type { HistoryStore } from '../history/history.ts'
import type { Prompt } from '../prompt.ts'
import { intervalStarts } from '../signals/interval.ts'
import type { IntervalTally, PromptSpan, SignalStore } from '../signals/signal.ts'
import { emptyTally, type Tally } from '../signals/tally.ts'
import { day, dayStart, type Instant } from '../time.ts'
import { type Impact, measureImpact, spanOf } from './impact.ts'

/** A prompt with its latest change and recent signals. */
export interface Overview {
  prompt: Prompt
  /** The newest change that went live, with its impact. */
  lastChange: Impact | null
  /** Signals per day for the last 30 days including today, UTC. Days without signals are included. */
  days: IntervalTally[]
  /** The total of `days`. */
  signals: Tally
}

/** Returns overviews in the order of `prompts`. The number of queries does not depend on how many there are. */
export async function overviewsOf(
  {
    history,
    signals,
  }: { history: Pick<HistoryStore, 'lastChanges'>; signals: Pick<SignalStore, 'tallies' | 'tallyByDay'> },
  prompts: Prompt[],
  now: Instant,
): Promise<Overview[]> {
  const since = overviewStart(now)
  const starts = intervalStarts('day', { from: since, until: now + 1 })
  const changes = await history.lastChanges(prompts, now)
  const spans = prompts.flatMap(({ id }, i): PromptSpan[] =>
    (changes[i] ?? []).map((change) => ({ promptId: id, ...spanOf(change, now) })),
  )
  const organisationId = prompts[0]?.organisationId ?? 0
  const [tallies, days] = await Promise.all([
    signals.tallies(organisationId, spans),
    signals.tallyByDay(prompts, since),
  ])
  return prompts.map((prompt, i) => {
    const [last, earlier] = (changes[i] ?? []).map((change) => ({ change, tally: tallies.shift() ?? emptyTally }))
    const ofDay = new Map(days[i]?.map((tally) => [tally.start, tally]))
    const all = starts.map((start) => ofDay.get(start) ?? { start, ...emptyTally })
    return {
      prompt,
      lastChange: last === undefined ? null : measureImpact(last.change, earlier?.tally ?? emptyTally, last.tally),
      days: all,
      signals: {
        positive: all.reduce((sum, { positive }) => sum + positive, 0),
        negative: all.reduce((sum, { negative }) => sum + negative, 0),
      },
    }
  })
}

const overviewDays = 30

/** The start of the first day that an overview covers. */
export function overviewStart(now: Instant): Instant {
  return dayStart(now) - (overviewDays - 1) * day
}
