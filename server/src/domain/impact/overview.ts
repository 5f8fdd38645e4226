import type { HistoryStore } from '../history/history.ts'
import type { Prompt } from '../prompt.ts'
import { intervalStarts } from '../signals/interval.ts'
import type { IntervalTally, PromptSpan, SignalStore } from '../signals/signal.ts'
import type { Tally } from '../signals/tally.ts'
import { day, dayStart, type Instant } from '../time.ts'
import { type Impact, impact, spanOf } from './impact.ts'

/** A prompt with what happened to it lately. */
export interface Overview {
  prompt: Prompt
  /** The newest change that went live, and what it did. */
  lastChange: Impact | null
  /** Signals of the last thirty days, today included, UTC; the empty ones too. */
  days: IntervalTally[]
  signals: Tally
}

/** The same prompts in the same order. Asks no more for many than for one. */
export async function overviewsOf(
  { history, signals }: { history: Pick<HistoryStore, 'lastChanges'>; signals: Pick<SignalStore, 'tallies' | 'days'> },
  prompts: Prompt[],
  now: Instant,
): Promise<Overview[]> {
  const since = overviewStart(now)
  const starts = intervalStarts('day', { from: since, until: now + 1 })
  const changes = await history.lastChanges(prompts)
  const spans = prompts.flatMap(({ id }, i): PromptSpan[] =>
    (changes[i] ?? []).map((change) => ({ promptId: id, ...spanOf(change, now) })),
  )
  const organisationId = prompts[0]?.organisationId ?? 0
  const [tallies, days] = await Promise.all([signals.tallies(organisationId, spans), signals.days(prompts, since)])
  return prompts.map((prompt, i) => {
    const [last, earlier] = (changes[i] ?? []).map((change) => ({ change, tally: tallies.shift() ?? nothing }))
    const ofDay = new Map(days[i]?.map((tally) => [tally.start, tally]))
    const all = starts.map((start) => ofDay.get(start) ?? { start, ...nothing })
    return {
      prompt,
      lastChange: last === undefined ? null : impact(last.change, earlier?.tally ?? nothing, last.tally),
      days: all,
      signals: {
        positive: all.reduce((sum, { positive }) => sum + positive, 0),
        negative: all.reduce((sum, { negative }) => sum + negative, 0),
      },
    }
  })
}

const nothing: Tally = { positive: 0, negative: 0 }

/** Since when an overview counts signals. */
export function overviewStart(now: Instant): Instant {
  return dayStart(now) - 29 * day
}
