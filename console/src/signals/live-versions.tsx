import type { HistoryEntry, RatedTally } from '@promptledger/client'
import { useQueries } from '@tanstack/react-query'
import { Link } from 'wouter'
import { ledger } from '../ledger.ts'
import { confidenceRange } from '../prompt/confidence.ts'
import { timelineEntryKey } from '../prompt/entry-queries.ts'
import { changeLabel, titleOf } from '../prompt/entry-title.ts'
import { changePath, promptPath } from '../prompt/prompt-path.ts'
import { formatNumber } from '../ui/number.ts'
import { formatPercent, formatTally } from '../ui/percent.ts'
import { type Column, Table } from '../ui/table.tsx'
import { UntrustedText } from '../ui/untrusted-text.tsx'
import { useLive } from '../versions/version-queries.ts'
import { signalsPath } from './signal-filter.ts'

interface LiveVersion {
  entry: HistoryEntry
  share: number
  /** The title of its commit; null if it has none, or while it loads. */
  title: string | null
  /** Null while it loads. */
  tally: RatedTally | null
}

// A prompt rarely has more versions live at once, and each takes a request.
const maxVersions = 5

/** Versions that are live at the same time, such as a canary, beside each other. Nothing while only one is live. */
export function LiveVersions({ promptId }: { promptId: string }) {
  const live = useLive(promptId)
  const { entry = null, environment = null, share = 1, also_live: others = [] } = live.data ?? {}
  const parts = entry === null || others.length === 0 ? [] : [{ entry, share }, ...others].slice(0, maxVersions)
  const changes = useQueries({
    queries: parts.map((part) => ({
      queryKey: timelineEntryKey(promptId, part.entry.id),
      queryFn: ({ signal }: { signal: AbortSignal }) => ledger.timeline.get(promptId, part.entry.id, {}, { signal }),
    })),
  })
  if (parts.length === 0) return null
  const versions = parts.map((part, i): LiveVersion => {
    const { message = null, impact = null } = changes[i]?.data ?? {}
    return { ...part, title: message === null ? null : titleOf(part.entry, message), tally: impact?.after ?? null }
  })
  return (
    <section className="live-versions" aria-labelledby="live-versions-title">
      <h3 id="live-versions-title">
        Live at the same time
        {environment !== null && (
          <>
            {' '}
            in <UntrustedText text={environment} />
          </>
        )}
      </h3>
      <Table
        variant="compact"
        caption="Versions that are live now, the largest share of traffic first"
        columns={columnsFor(promptId)}
        rows={versions}
        rowKey={({ entry: { id } }) => id}
      />
      <p className="muted small">
        Figures count all signals of a version, also from before the others went live. Signals that name no version
        count for the one with the largest share.
      </p>
    </section>
  )
}

function columnsFor(promptId: string): Column<LiveVersion>[] {
  return [
    {
      header: 'Version',
      cell: ({ entry, title }) => (
        <>
          <Link href={changePath(promptId, entry.id)}>
            <UntrustedText text={title ?? changeLabel(entry)} />
          </Link>
          {title !== null && (
            <span className="live-label muted small">
              <UntrustedText text={changeLabel(entry)} />
            </span>
          )}
        </>
      ),
    },
    {
      header: 'Text',
      cell: ({ entry }) => <Link href={`${promptPath(promptId)}/text?version=${entry.id}`}>Show</Link>,
    },
    { header: 'Traffic', align: 'right', cell: ({ share }) => formatPercent(share) },
    { header: 'Positive', className: 'nowrap', cell: ({ tally }) => <Share tally={tally} /> },
    {
      header: 'Signals',
      align: 'right',
      cell: ({ entry, tally }) =>
        tally === null ? (
          '…'
        ) : (
          <Link href={signalsPath(promptId, { change: entry.id, side: 'after' })}>
            {formatNumber(tally.positive + tally.negative)}
          </Link>
        ),
    },
  ]
}

function Share({ tally }: { tally: RatedTally | null }) {
  const range = tally === null ? null : confidenceRange(tally)
  if (tally === null || tally.rate === null || range === null) return <span className="muted">No signals yet</span>
  const { low, high } = range
  return (
    <span className="live-share">
      <RangeBar low={low} high={high} share={tally.rate} />
      <span>
        {formatTally(tally)}{' '}
        <span className="muted small">
          <span className="visually-hidden">95% confidence range: </span>
          {formatPercent(low)} to {formatPercent(high)}
        </span>
      </span>
    </span>
  )
}

const [width, height] = [96, 12]

/** A share between 0 and 1 as a dot, and its 95% confidence range as a bar. The text beside it says the same. */
function RangeBar({ low, high, share }: { low: number; high: number; share: number }) {
  const x = (value: number) => 4 + value * (width - 8)
  return (
    <svg className="range-bar" width={width} height={height} viewBox={`0 0 ${width} ${height}`} aria-hidden="true">
      <line className="range-bar-axis" x1={x(0)} x2={x(1)} y1={height / 2} y2={height / 2} />
      <line className="range-bar-range" x1={x(low)} x2={x(high)} y1={height / 2} y2={height / 2} />
      <circle cx={x(share)} cy={height / 2} r={3.5} />
    </svg>
  )
}
