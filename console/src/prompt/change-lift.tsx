import { type Effect, NotFoundError } from '@promptledger/client'
import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { ledger } from '../ledger.ts'
import { LoadState } from '../ui/load-state.tsx'
import { countOf } from '../ui/number.ts'
import { formatPoints } from '../ui/percent.ts'
import { type Column, Table } from '../ui/table.tsx'
import { Time } from '../ui/time.tsx'
import { verdictLabels } from '../ui/verdict.tsx'
import { timelineEntryKey } from './entry-queries.ts'

interface Props {
  promptId: string
  entryId: number
  impact: Effect
}

// Each is a request, and the chart is small.
const pointCount = 8
const size = { width: 320, height: 96, edge: 6 }

/** What was known of the effect at a time. */
interface Point {
  at: string
  effect: Pick<Effect, 'difference' | 'interval' | 'verdict' | 'after'> | null
}

/** The difference that a change makes, as it was known while votes came in. On request: it takes several requests. */
export function ChangeLift(props: Props) {
  const [isOpen, setIsOpen] = useState(false)
  if (props.impact.difference === null) return null
  return (
    <details className="change-lift" onToggle={({ currentTarget }) => setIsOpen(currentTarget.open)}>
      <summary>Difference over time</summary>
      {isOpen && <Lift {...props} />}
    </details>
  )
}

function Lift({ promptId, entryId, impact }: Props) {
  const lift = useQuery({
    queryKey: [...timelineEntryKey(promptId, entryId), 'lift', impact.live_until],
    queryFn: async ({ signal }): Promise<Point[]> => {
      const times = timesOf(impact)
      const earlier = times.slice(0, -1).map((at) => pointAt(promptId, entryId, at, signal))
      return [...(await Promise.all(earlier)), { at: times.at(-1) as string, effect: impact }]
    },
  })
  if (lift.data === undefined) return <LoadState query={lift} what="the difference over time" />
  return (
    <>
      <LiftChart points={lift.data} />
      <Table
        variant="compact"
        caption="The difference over time"
        columns={columns}
        rows={lift.data}
        rowKey={({ at }) => at}
      />
    </>
  )
}

/** Evenly spread over the time in which the change was live. */
function timesOf({ live_from: from, live_until: until }: Effect): string[] {
  const [start, end] = [Date.parse(from), until === null ? Date.now() : Date.parse(until)]
  return Array.from({ length: pointCount }, (_, i) =>
    new Date(Math.round(start + ((i + 1) * (end - start)) / pointCount)).toISOString(),
  )
}

async function pointAt(promptId: string, entryId: number, at: string, signal: AbortSignal): Promise<Point> {
  try {
    return { at, effect: (await ledger.timeline.get(promptId, entryId, { as_of: at }, { signal })).impact }
  } catch (error) {
    if (error instanceof NotFoundError) return { at, effect: null }
    throw error
  }
}

const columns: Column<Point>[] = [
  { header: 'Until', className: 'nowrap', cell: ({ at }) => <Time at={at} as="date" /> },
  {
    header: 'Votes',
    align: 'right',
    cell: ({ effect }) => (effect === null ? '–' : countOf(effect.after.positive + effect.after.negative, 'vote')),
  },
  {
    header: 'Points',
    align: 'right',
    className: 'nowrap',
    cell: ({ effect }) => (effect === null || effect.difference === null ? '–' : formatPoints(effect.difference)),
  },
  { header: 'Verdict', cell: ({ effect }) => (effect === null ? '–' : verdictLabels[effect.verdict]) },
]

/** The table beside it says the same. */
function LiftChart({ points }: { points: Point[] }) {
  const { width, height, edge } = size
  const reach = Math.max(
    0.1,
    ...points.flatMap(({ effect }) => (effect?.interval ?? []).map((end) => Math.min(1, Math.abs(end)))),
  )
  const x = (i: number) => edge + (i * (width - 2 * edge)) / (pointCount - 1)
  const y = (difference: number) =>
    height / 2 - (Math.min(Math.max(difference, -reach), reach) / reach) * (height / 2 - edge)
  return (
    <svg className="lift-chart" viewBox={`0 0 ${width} ${height}`} aria-hidden="true">
      <line className="lift-zero" x1={0} x2={width} y1={height / 2} y2={height / 2} />
      {points.map(({ at, effect }, i) =>
        effect?.interval == null || effect.difference === null ? null : (
          <g key={at} className={`lift-point ${effect.verdict}`}>
            <line x1={x(i)} x2={x(i)} y1={y(effect.interval[0] ?? 0)} y2={y(effect.interval[1] ?? 0)} />
            <circle cx={x(i)} cy={y(effect.difference)} r={4} />
          </g>
        ),
      )}
    </svg>
  )
}
