import type { Signal } from '@promptledger/client'
import { Trash2 } from 'lucide-react'
import { Button } from '../ui/button.tsx'
import type { Column } from '../ui/table.tsx'
import { Time } from '../ui/time.tsx'
import { UntrustedText } from '../ui/untrusted-text.tsx'
import { Metadata } from './metadata.tsx'
import { SignalValue } from './signal-value.tsx'

const shownVoterLength = 10

export interface SignalActions {
  /** Null if the key may not delete signals. */
  onDelete: ((signal: Signal) => void) | null
  /** Selects the signals with this member in their metadata. */
  onMember: (name: string, value: string) => void
}

/** The columns that any of the signals has something for. */
export function signalColumns(signals: Signal[], { onDelete, onMember }: SignalActions): Column<Signal>[] {
  const has = (field: keyof Signal) => signals.some((signal) => signal[field] !== null)
  const columns: (Column<Signal> | false)[] = [
    { header: 'Value', cell: ({ value }) => <SignalValue value={value} /> },
    { header: 'Time', className: 'nowrap', cell: ({ occurred_at: at }) => <Time at={at} /> },
    has('comment') && {
      header: 'Comment',
      className: 'comment-cell',
      cell: ({ comment }) => <Text text={comment} />,
    },
    has('version') && {
      header: 'Version',
      className: 'detail-cell',
      cell: ({ version }) => <Text text={version === null ? null : shortVersion(version)} />,
    },
    has('subject') && { header: 'Subject', className: 'detail-cell', cell: ({ subject }) => <Text text={subject} /> },
    has('voter') && {
      header: 'Voter',
      className: 'detail-cell',
      cell: ({ voter }) => (
        // A hash: enough of it to recognise a voter, the rest on hover.
        <span title={voter ?? undefined}>
          <Text text={voter === null ? null : voter.slice(0, shownVoterLength)} />
        </span>
      ),
    },
    {
      header: 'Metadata',
      className: 'metadata-cell',
      cell: ({ metadata }) => <Metadata metadata={metadata} onMember={onMember} />,
    },
    onDelete !== null && {
      header: 'Actions',
      isHeaderHidden: true,
      cell: (signal) => (
        <div className="row-actions">
          <Button onClick={() => onDelete(signal)} aria-label={`Delete signal ${signal.id}`}>
            <Trash2 aria-hidden="true" />
            Delete
          </Button>
        </div>
      ),
    },
  ]
  return columns.filter((column) => column !== false)
}

function Text({ text }: { text: string | null }) {
  if (text === null) return <span className="muted">None</span>
  return (
    <bdi>
      <UntrustedText text={text} />
    </bdi>
  )
}

/** A full commit SHA as git abbreviates it; an entry by its number. */
function shortVersion(version: string | number): string {
  if (typeof version === 'number') return `Entry ${version}`
  return /^[0-9a-f]{40}$/.test(version) ? version.slice(0, 10) : version
}
