import type { Signal } from '@promptledger/client'
import { ListFilter, Trash2 } from 'lucide-react'
import { Button } from '../ui/button.tsx'
import type { Column } from '../ui/table.tsx'
import { Time } from '../ui/time.tsx'
import { UntrustedText, visibleText } from '../ui/untrusted-text.tsx'
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

interface Props {
  metadata: Signal['metadata']
  /** Selects the signals with this member. */
  onMember: (name: string, value: string) => void
}

const maxChips = 4
const maxChipLength = 80

/** The metadata of a signal: the first members as chips, all of it as JSON when expanded. */
function Metadata({ metadata, onMember }: Props) {
  const members = Object.entries(metadata ?? {})
  if (members.length === 0) return <span className="muted">None</span>
  const hiddenCount = members.length - maxChips
  return (
    <details className="metadata">
      <summary>
        <span className="chips">
          {members.slice(0, maxChips).map(([name, value]) => (
            <span className="chip" key={name}>
              <bdi className="chip-name">
                <UntrustedText text={truncate(name)} />
              </bdi>{' '}
              <bdi>
                <UntrustedText text={truncate(textOf(value))} />
              </bdi>
            </span>
          ))}
          {hiddenCount > 0 && <span className="muted small">and {hiddenCount} more</span>}
        </span>
      </summary>
      <pre>
        <UntrustedText text={JSON.stringify(metadata, null, 2)} />
      </pre>
      <div className="chips member-filters">
        {members.filter(isSelectable).map(([name, value]) => (
          <button
            type="button"
            className="chip"
            key={name}
            aria-label={visibleText(`Only signals with ${name}: ${textOf(value)}`)}
            onClick={() => onMember(name, textOf(value))}
          >
            <ListFilter aria-hidden="true" />
            <bdi>
              <UntrustedText text={truncate(name)} />
            </bdi>
          </button>
        ))}
      </div>
    </details>
  )
}

/** A filter compares text, numbers and booleans. A URL has room for short ones. */
function isSelectable([name, value]: [string, unknown]): boolean {
  return ['string', 'number', 'boolean'].includes(typeof value) && value !== '' && `${name}${value}`.length <= 200
}

function textOf(value: unknown): string {
  return typeof value === 'string' ? value : JSON.stringify(value)
}

function truncate(text: string): string {
  return text.length > maxChipLength ? `${text.slice(0, maxChipLength)}…` : text
}
