import type { TimelineEntry } from '@promptledger/client'
import { formatCompact } from '../ui/number.ts'
import type { Step } from './chart-steps.ts'

/** One or more changes that went live in a time too short to tell them apart. */
export interface Mark {
  from: number
  to: number
  count: number
  /** The change, if it is loaded and the only one. */
  change: TimelineEntry | null
  tone: Tone
}

// The worst first: a cluster has the tone of its worst change that is known.
const tones = ['regression', 'worse', 'unexplained', 'plain', 'better'] as const

type Tone = (typeof tones)[number]

export interface Cluster extends Mark {
  x: number
}

/** A mark for each loaded change. */
export function marksOfChanges(changes: TimelineEntry[], regressions: Set<number>): Mark[] {
  return changes.flatMap((change) => {
    if (change.impact === null) return []
    const at = Date.parse(change.impact.live_from)
    return [{ from: at, to: at, count: 1, change, tone: toneOf(change, regressions) }]
  })
}

/** A mark for each step with changes: there are too many to load. `regressions` are the times of changes with an open regression. */
export function marksOfSteps(steps: Step[], regressions: number[]): Mark[] {
  return steps
    .filter(({ changes }) => changes > 0)
    .map(({ start, end, changes }) => {
      const isRegression = regressions.some((at) => at >= start && at < end)
      return { from: start, to: end, count: changes, change: null, tone: isRegression ? 'regression' : 'plain' }
    })
}

/** Joins marks that would cover each other. */
export function clustersOf(marks: Mark[], x: (at: number) => number): Cluster[] {
  const clusters: Cluster[] = []
  for (const mark of marks.toSorted((a, b) => a.from - b.from)) {
    const at = x((mark.from + mark.to) / 2)
    const cluster = clusters.at(-1)
    const isFree = cluster === undefined || at - cluster.x >= halfWidth(cluster) + halfWidth(mark) + minGapPx
    if (isFree) clusters.push({ ...mark, x: at })
    else {
      cluster.count += mark.count
      cluster.to = Math.max(cluster.to, mark.to)
      cluster.change = null
      cluster.tone = tones[Math.min(tones.indexOf(cluster.tone), tones.indexOf(mark.tone))] as Tone
      cluster.x = x((cluster.from + cluster.to) / 2)
    }
  }
  return clusters
}

const minGapPx = 4

/** Half the width of a marker: a dot, or the number of its changes. */
export function halfWidth({ count }: Pick<Mark, 'count'>): number {
  return count > 1 ? 8 + formatCompact(count).length * 3 : 5
}

function toneOf({ entry, impact }: TimelineEntry, regressions: Set<number>): Tone {
  if (regressions.has(entry.id)) return 'regression'
  const verdict = impact?.verdict
  return verdict === 'worse' || verdict === 'better' || verdict === 'unexplained' ? verdict : 'plain'
}
