import type { EntryDetails } from '../history/entry.ts'
import { type HistoryStore, type PullSpan, pullKey, type TimelineFilter } from '../history/history.ts'
import type { Prompt } from '../prompt.ts'
import { judgeChanges } from './judged-changes.ts'
import type { Moment } from './live/moment.ts'
import type { Drift } from './model/drift.ts'
import { voteHistoryOf } from './reading/vote-history.ts'
import { knownBy, knownUntil, type TimelineEntry, type TimelineStores, toTimelineEntries } from './timeline.ts'

interface TimelineStreamStores extends TimelineStores {
  history: TimelineStores['history'] & Pick<HistoryStore, 'timelineAfter'>
}

// Judging one batch takes as long as one page of the timeline.
const batchSize = 100
// Bounds the memory: a URL can have 2,000 characters.
const maxRemembered = 2_000

/** The whole timeline, newest first, in batches. When the changes were live is read once, at the start. */
export async function* streamTimeline(
  stores: TimelineStreamStores,
  prompt: Prompt,
  filter: TimelineFilter,
  moment: Moment,
  drift?: Readonly<Drift>,
): AsyncGenerator<TimelineEntry[]> {
  const history = await voteHistoryOf(stores, prompt, moment)
  const known = knownBy(moment, filter)
  let remembered = new Map<string, PullSpan>()

  /** Reads those that no batch before had. Each read examines the whole history. */
  async function spansOf(entries: EntryDetails[]): Promise<Map<string, PullSpan>> {
    if (remembered.size > maxRemembered) remembered = new Map()
    const unknown = entries.filter((entry) => entry.prUrl !== null && !remembered.has(pullKey(entry)))
    if (unknown.length === 0) return remembered
    const spans = await stores.history.pullSpans(prompt, unknown, knownUntil(moment))
    unknown.forEach((entry, i) => {
      const span = spans[i] ?? null
      if (span !== null) remembered.set(pullKey(entry), span)
    })
    return remembered
  }

  let last: EntryDetails | null = null
  do {
    const part: EntryDetails[] = await stores.history.timelineAfter(prompt, { ...known, pulls: 'all' }, last, batchSize)
    const spans = await spansOf(part)
    // Left out here: the store would look for the outcomes of all pull requests again for each batch.
    const entries = filter.pulls === 'outcome' ? part.filter((entry) => !hasLaterOutcome(entry, spans)) : part
    const periods = entries.map(({ id }) => history.live.periods.get(id)).filter((life) => life !== undefined)
    const judged = await judgeChanges(stores, history, periods, drift)
    const pulls = entries.map((entry) => spans.get(pullKey(entry)) ?? null)
    yield toTimelineEntries(entries, pulls, judged)
    last = part.length < batchSize ? null : (part.at(-1) as EntryDetails)
  } while (last !== null)
}

function hasLaterOutcome(entry: EntryDetails, spans: Map<string, PullSpan>): boolean {
  const outcome = spans.get(pullKey(entry))?.outcome ?? null
  return entry.action === 'pr_opened' && outcome !== null && outcome.createdAt >= entry.createdAt
}
