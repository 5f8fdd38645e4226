import type { Signal } from '@promptledger/client'
import { UntrustedText } from '../ui/untrusted-text.tsx'

const maxChips = 4
const maxChipLength = 80

/** The metadata of a signal: the first members as chips, all of it as JSON when expanded. */
export function Metadata({ metadata }: { metadata: Signal['metadata'] }) {
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
    </details>
  )
}

function textOf(value: unknown): string {
  return typeof value === 'string' ? value : JSON.stringify(value)
}

function truncate(text: string): string {
  return text.length > maxChipLength ? `${text.slice(0, maxChipLength)}…` : text
}
