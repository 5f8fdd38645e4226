import type { Trial, TrialSegment, TrialSegmentArm } from '@promptledger/client'
import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { ledger } from '../ledger.ts'
import {
  pointsColumn,
  SegmentKeys,
  SegmentValue,
  segmentRowKey,
  usePromptSegments,
  useSegmentKey,
} from '../signals/segments.tsx'
import { LoadState } from '../ui/load-state.tsx'
import { formatNumber } from '../ui/number.ts'
import { formatTally } from '../ui/percent.ts'
import { type Column, Table } from '../ui/table.tsx'
import { PlainVerdict } from '../ui/verdict.tsx'

/** The trial for each value of a declared key of the metadata. The key is `by` in the URL. */
export function TrialSegments({ trial }: { trial: Trial }) {
  const { data: declared } = usePromptSegments(trial.prompts[0]?.id ?? '', trial.prompts.length > 0)
  const keys = declared?.keys ?? []
  const key = useSegmentKey(keys)
  if (keys.length === 0) return null
  return (
    <section aria-labelledby="segments" className="page-section">
      <h2 id="segments">By segment</h2>
      <SegmentKeys keys={keys} />
      {key !== null && <Breakdown id={trial.id} name={key} />}
    </section>
  )
}

function Breakdown({ id, name }: { id: string; name: string }) {
  const trial = useQuery({
    queryKey: ['trials', id, 'by', name],
    queryFn: ({ signal }) => ledger.trials.get(id, { by: `metadata.${name}` }, { signal }),
    placeholderData: keepPreviousData,
  })
  if (trial.data === undefined) return <LoadState query={trial} what="segments" />
  const { segments } = trial.data
  if (segments === undefined || segments.values.length === 0) return <p className="muted">No votes to break down.</p>
  const columns: Column<TrialSegment>[] = [
    { header: segments.key, cell: SegmentValue },
    { header: 'Live version', align: 'right', className: 'nowrap', cell: ({ control }) => <Arm arm={control} /> },
    { header: 'Candidate', align: 'right', className: 'nowrap', cell: ({ candidate }) => <Arm arm={candidate} /> },
    pointsColumn,
    { header: 'Verdict', cell: ({ verdict }) => <PlainVerdict verdict={verdict ?? 'too_little_data'} /> },
  ]
  return (
    <>
      <Table
        variant="compact"
        caption={`The trial by ${segments.key}`}
        columns={columns}
        rows={segments.values}
        rowKey={segmentRowKey}
      />
      <p className="muted small">
        Of all segments with a verdict, at most 5% are wrong on average.
        {!segments.complete && ' Only the first 40,000 votes are included.'}
      </p>
    </>
  )
}

function Arm({ arm: { voters, positive } }: { arm: TrialSegmentArm }) {
  return (
    <>
      {formatTally({ positive, negative: voters - positive })}{' '}
      <span className="muted small">of {formatNumber(voters)}</span>
    </>
  )
}
