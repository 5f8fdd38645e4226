import type { Signal } from '@promptledger/client'
import { ListFilter } from 'lucide-react'
import { UntrustedText, visibleText } from '../ui/untrusted-text.tsx'

interface Props {
  metadata: Signal['metadata']
  /** Selects the signals with this member. */
  onMember: (name: string, value: string) => void
}

const maxChips = 4
const maxChipLength = 80

/** The metadata of a signal: the first members as chips, all of it as JSON when expanded. */
export function Metadata({ metadata, onMember }: Props) {
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
