import type { RatedTally, SegmentImpact, Segments } from '@promptledger/client'
import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { Link } from 'wouter'
import { ledger } from '../ledger.ts'
import { timelineEntryKey } from '../prompt/entry-queries.ts'
import { LoadError, LoadState } from '../ui/load-state.tsx'
import { formatNumber } from '../ui/number.ts'
import { formatPoints, formatTally } from '../ui/percent.ts'
import { type Column, Table } from '../ui/table.tsx'
import { PlainVerdict } from '../ui/verdict.tsx'
import {
  pointsColumn,
  SegmentKeys,
  SegmentValue,
  segmentRowKey,
  usePromptSegments,
  useSegmentKey,
} from './segments.tsx'
import { type ChangeSide, signalsPath } from './signal-filter.ts'

interface Props {
  promptId: string
  /** A change that went live. */
  entryId: number
}

/** The effect of a change for each value of a declared key of the metadata. The key is `by` in the URL. */
export function ChangeSegments({ promptId, entryId }: Props) {
  const declared = usePromptSegments(promptId)
  const keys = declared.data?.keys ?? []
  const key = useSegmentKey(keys)
  return (
    <section className="change-segments" aria-label="Effect by segment">
      <h3>By segment</h3>
      {declared.isError && <LoadError error={declared.error} retry={declared.refetch} />}
      {declared.data !== undefined && keys.length === 0 && (
        <p className="muted">
          To break this effect down by model, language or plan, declare a key of your signals’ metadata in{' '}
          <Link href="/settings">Settings</Link>.
        </p>
      )}
      {keys.length > 0 && <SegmentKeys keys={keys} />}
      {key !== null && <Breakdown promptId={promptId} entryId={entryId} name={key} />}
    </section>
  )
}

function Breakdown({ promptId, entryId, name }: Props & { name: string }) {
  const change = useQuery({
    queryKey: [...timelineEntryKey(promptId, entryId), 'by', name],
    queryFn: ({ signal }) => ledger.timeline.get(promptId, entryId, { by: `metadata.${name}` }, { signal }),
    placeholderData: keepPreviousData,
  })
  if (change.data === undefined) return <LoadState query={change} what="segments" />
  const { segments = null } = change.data
  if (segments === null) {
    return <p className="muted">There is no earlier change to compare with, so segments have no effect to show.</p>
  }
  if (segments.values.every(isEmpty)) {
    return <p className="muted">No signals of this change or the one before it are left to break down.</p>
  }
  return (
    <>
      <SegmentTable promptId={promptId} entryId={entryId} segments={segments} />
      <p className="segment-notes">{notesOn(segments).join(' ')}</p>
    </>
  )
}

function isEmpty({ before, after }: SegmentImpact): boolean {
  return before.rate === null && after.rate === null
}

/** What the table leaves out, and where the difference comes from. */
function notesOn({ key, complete, mix, values }: Segments): string[] {
  const notes: string[] = []
  if (mix !== null) {
    notes.push(
      `Within segments, the share moved by ${formatPoints(mix.within)} percentage points. A different mix of segments ` +
        `made ${formatPoints(mix.audience)}.`,
    )
  }
  if (!complete) {
    notes.push(
      'Not all signals are included: at most the last 20,000 before the change and the first 20,000 after it, and none that ' +
        'retention has removed.',
    )
  }
  if (values.some(({ other }) => other))
    notes.push(`Values of ${key} beyond the first 20 are pooled as “Other values”.`)
  return notes
}

/** Each segment with its share of positive signals before and after the change. The numbers lead to the signals. */
function SegmentTable({ promptId, entryId, segments: { key, values } }: Props & { segments: Segments }) {
  const side = (name: ChangeSide): Column<SegmentImpact> => ({
    header: name === 'before' ? 'Before' : 'After',
    align: 'right',
    className: 'nowrap',
    cell: ({ value, [name]: tally }) => (
      <Side
        tally={tally}
        href={
          value === null ? null : signalsPath(promptId, { change: entryId, side: name, metadata: { [key]: value } })
        }
      />
    ),
  })
  const columns: Column<SegmentImpact>[] = [
    { header: key, cell: SegmentValue },
    side('before'),
    side('after'),
    pointsColumn,
    {
      header: 'Effect',
      cell: ({ verdict, explanation }) => (
        <details>
          <summary>
            <PlainVerdict verdict={verdict} />
          </summary>
          <p>{explanation}</p>
        </details>
      ),
    },
  ]
  return (
    <Table
      variant="compact"
      caption={`The effect of the change by ${key}`}
      className="segment-table"
      columns={columns}
      rows={values}
      rowKey={segmentRowKey}
    />
  )
}

function Side({ tally, href }: { tally: RatedTally; href: string | null }) {
  const { positive, negative, rate } = tally
  const signals = formatNumber(positive + negative)
  return (
    <>
      {formatTally(tally)}{' '}
      <span className="muted small">
        of {href === null || rate === null ? signals : <Link href={href}>{signals}</Link>}
      </span>
    </>
  )
}
