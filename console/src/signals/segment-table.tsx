import type { RatedTally, SegmentImpact, Segments } from '@promptledger/client'
import { Link } from 'wouter'
import { formatNumber } from '../ui/number.ts'
import { formatPoints, formatTally } from '../ui/percent.ts'
import { type Column, Table } from '../ui/table.tsx'
import { UntrustedText } from '../ui/untrusted-text.tsx'
import { PlainVerdict } from '../ui/verdict.tsx'
import { type ChangeSide, signalsPath } from './signals-path.ts'

interface Props {
  promptId: string
  entryId: number
  segments: Segments
}

/** Each segment with its share of positive signals before and after the change. The numbers lead to the signals. */
export function SegmentTable({ promptId, entryId, segments: { key, values } }: Props) {
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
    { header: key, cell: ({ value, other }) => <Value value={value} isOther={other} /> },
    side('before'),
    side('after'),
    {
      header: 'Points',
      align: 'right',
      className: 'nowrap',
      cell: ({ difference }) => (difference === null ? '–' : formatPoints(difference)),
    },
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
      rowKey={({ value, other }) => (value === null ? String(other) : `=${value}`)}
    />
  )
}

function Value({ value, isOther }: { value: string | null; isOther: boolean }) {
  if (value === null) return <span className="muted">{isOther ? 'Other values' : 'No value'}</span>
  return (
    <bdi>
      <UntrustedText text={value} />
    </bdi>
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
