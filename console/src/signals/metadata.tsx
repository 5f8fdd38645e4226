import type { Signal } from '@promptledger/client'

const mostChips = 4
const mostCharacters = 80

/** What came along with a signal: the first few of it at a glance, all of it when opened. */
export function Metadata({ metadata }: { metadata: Signal['metadata'] }) {
  const entries = Object.entries(metadata ?? {})
  if (entries.length === 0) return <span className="quiet">None</span>
  const more = entries.length - mostChips
  return (
    <details className="metadata">
      <summary>
        <span className="chips">
          {entries.slice(0, mostChips).map(([name, value]) => (
            <span className="chip" key={name}>
              <bdi className="chip-name">{shortened(name)}</bdi> <bdi>{shortened(textOf(value))}</bdi>
            </span>
          ))}
          {more > 0 && <span className="quiet small">and {more} more</span>}
        </span>
      </summary>
      <pre>{JSON.stringify(metadata, null, 2)}</pre>
    </details>
  )
}

function textOf(value: unknown): string {
  return typeof value === 'string' ? value : JSON.stringify(value)
}

function shortened(text: string): string {
  return text.length > mostCharacters ? `${text.slice(0, mostCharacters)}…` : text
}
