import type { EntryDetails } from '../history/entry.ts'
import type { HistoryStore, TimelineFilter } from '../history/history.ts'
import type { PageRequest } from '../page.ts'
import type { Prompt } from '../prompt.ts'
import type { VersionTally } from '../signals/signal.ts'
import { type Impact, toImpact } from './impact.ts'
import { type JudgeStores, judgeChanges } from './judged-changes.ts'
import type { Moment } from './moment.ts'
import { unknownVersionsOf, type VoteStores, voteHistoryOf } from './vote-history.ts'
import type { Wander } from './wander.ts'

/** A history entry with its impact. `impact` is null if the change did not go live. */
export interface TimelineEntry {
  entry: EntryDetails
  impact: Impact | null
}

export interface Timeline {
  entries: TimelineEntry[]
  totalCount: number
  /** Signals that name a version which is none of the prompt's changes. They count for no change. */
  unknownVersions: VersionTally[]
}

export interface TimelineStores extends VoteStores, JudgeStores {
  signals: JudgeStores['signals']
  history: Pick<HistoryStore, 'landedChanges' | 'timeline'>
}

/** The history with everything known about each change. */
export async function timelineOf(
  stores: TimelineStores,
  prompt: Prompt,
  filter: TimelineFilter,
  request: PageRequest,
  moment: Moment,
  wander?: Readonly<Wander>,
): Promise<Timeline> {
  const [history, { entries, totalCount }] = await Promise.all([
    voteHistoryOf(stores, prompt, moment),
    stores.history.timeline(prompt, knownBy(moment, filter), request),
  ])
  const lives = entries.map(({ id }) => history.live.lives.get(id)).filter((life) => life !== undefined)
  const [judged, unknownVersions] = await Promise.all([
    judgeChanges(stores, history, lives, wander),
    unknownVersionsOf(stores, history),
  ])
  const judgedById = new Map(judged.map((change) => [change.life.change.id, change]))
  return {
    entries: entries.map((entry) => {
      const change = judgedById.get(entry.id)
      return { entry, impact: change === undefined ? null : toImpact(entry, change) }
    }),
    totalCount,
    unknownVersions,
  }
}

function knownBy({ at, isPast }: Moment, filter: TimelineFilter): TimelineFilter {
  return isPast ? { ...filter, until: Math.min(filter.until ?? at + 1, at + 1) } : filter
}
