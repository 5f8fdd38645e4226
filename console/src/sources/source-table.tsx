import type { Source } from '@promptledger/client'
import { Link } from 'wouter'
import { EmptyState } from '../ui/empty-state.tsx'
import { formatNumber } from '../ui/number.ts'
import { type Column, Table } from '../ui/table.tsx'
import { Time } from '../ui/time.tsx'
import { UntrustedText } from '../ui/untrusted-text.tsx'
import { adapters } from './adapters.ts'

const columns: Column<Source>[] = [
  {
    header: 'Source',
    cell: ({ id, name, adapter }) => (
      <>
        <Link className="row-link" href={`/sources/${id}`}>
          <UntrustedText text={name} />
        </Link>
        <span className="cell-note muted">{adapters[adapter].label}</span>
      </>
    ),
  },
  { header: 'Recorded', cell: ({ recorded }) => formatNumber(recorded) },
  { header: 'Rejected', cell: ({ rejected }) => formatNumber(rejected) },
  {
    header: 'Last event',
    cell: ({ last_received_at: at }) =>
      at === null ? <span className="muted">None yet</span> : <Time at={at} as="relative" />,
  },
]

export function SourceTable({ sources }: { sources: Source[] }) {
  return (
    <Table
      caption="Sources"
      columns={columns}
      rows={sources}
      rowKey={({ id }) => id}
      empty={
        <EmptyState title="No sources yet">
          <p>
            Add a source to record the feedback that you already collect: in Slack, LangSmith, PostHog, Intercom or
            Zendesk, or with any webhook.
          </p>
        </EmptyState>
      }
    />
  )
}
