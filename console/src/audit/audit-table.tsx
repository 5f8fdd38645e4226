import type { AuditEntry, Page } from '@promptledger/client'
import type { UseQueryResult } from '@tanstack/react-query'
import { Link } from 'wouter'
import { promptPath } from '../prompt/prompt-path.ts'
import { CopyButton } from '../ui/copy-button.tsx'
import { EmptyState } from '../ui/empty-state.tsx'
import { PagedTable } from '../ui/paged-table.tsx'
import type { Column } from '../ui/table.tsx'
import { Time } from '../ui/time.tsx'
import { UntrustedText } from '../ui/untrusted-text.tsx'
import { actionLabel } from './actions.ts'
import { AuditDetails } from './audit-details.tsx'

interface Props {
  query: UseQueryResult<Page<AuditEntry>>
  /** Shows only the entries of an actor: the ID of a key, or `operator`. */
  onActor: (actor: string) => void
}

export function AuditTable({ query, onActor }: Props) {
  const columns: Column<AuditEntry>[] = [
    {
      header: 'What',
      cell: ({ action }) => (
        <>
          <strong>{actionLabel(action)}</strong>
          <code className="muted small">{action}</code>
        </>
      ),
      className: 'audit-action',
    },
    { header: 'Details', cell: (entry) => <Details entry={entry} />, className: 'audit-about' },
    { header: 'By', cell: ({ actor }) => <Actor actor={actor} onActor={onActor} /> },
    { header: 'When', cell: ({ at }) => <Time at={at} />, className: 'nowrap' },
    { header: 'Chain', cell: (entry) => <ChainPlace entry={entry} />, className: 'nowrap' },
  ]
  return (
    <PagedTable
      query={query}
      noun="entries"
      caption="Audit log, newest entry first"
      className="audit-table"
      columns={columns}
      rowKey={({ id }) => id}
      empty={
        <EmptyState title="No matching entries">
          <p>No entry of the audit log matches these filters.</p>
        </EmptyState>
      }
    />
  )
}

function Details({ entry: { action, subject, details } }: { entry: AuditEntry }) {
  const to = pageOf(action, subject.id)
  // A sign-in and a rejected key are about the key in the next column.
  const isOwnKey = action === 'session.started' || action === 'key.rejected'
  if (isOwnKey && details === null) return null
  const name = <UntrustedText text={subject.name} />
  return (
    <div>
      {!isOwnKey && <span className="audit-subject">{to === null ? name : <Link href={to}>{name}</Link>}</span>}
      <AuditDetails details={details} />
    </div>
  )
}

/** The page of the resource, unless the action removed it. */
function pageOf(action: string, id: string): string | null {
  if (/\.(deleted|removed|disconnected)$/.test(action)) return null
  if (id.startsWith('pmt_')) return promptPath(id)
  if (id.startsWith('src_')) return `/sources/${encodeURIComponent(id)}`
  if (id.startsWith('alr_')) return `/alerts/${encodeURIComponent(id)}`
  return action.startsWith('repository.') ? `/repositories/${encodeURIComponent(id)}` : null
}

function Actor({ actor, onActor }: { actor: AuditEntry['actor'] } & Pick<Props, 'onActor'>) {
  const filter = actor === null ? 'operator' : String(actor.key_id)
  return (
    <button type="button" className="text-button audit-actor" title="Only this actor" onClick={() => onActor(filter)}>
      {actor === null ? 'Operator (CLI)' : <UntrustedText text={actor.name} />}
    </button>
  )
}

function ChainPlace({ entry: { seq, hash } }: { entry: AuditEntry }) {
  if (seq === null || hash === null) return <span className="muted">Not chained yet</span>
  return (
    <span className="audit-hash">
      <span className="muted">#{seq}</span> <code title={hash}>{hash.slice(0, 8)}…</code>
      <CopyButton value={hash} label={`Copy the hash of entry ${seq}`} />
    </span>
  )
}
