import type { HistoryEntryDetails } from '@promptledger/client'
import { Notice } from '../ui/notice.tsx'
import { countOf, formatNumber } from '../ui/number.ts'
import { countOfKind } from '../ui/untrusted-text.tsx'

type Found = NonNullable<HistoryEntryDetails['hidden_characters']>

const maxListed = 5

/** Warns of hidden characters that a change adds to the prompt, and mentions those that it keeps. */
export function HiddenCharacters({ found }: { found: Found | null }) {
  if (found === null || !found.present) return null
  if (!found.added) {
    return (
      <Notice tone="caution">
        The text contains {countOf(found.count, 'hidden character')} from earlier changes ({kindsOf(found, 'count')}).
      </Notice>
    )
  }
  const added = found.positions.filter((position) => position.added)
  const unlisted = added.length - maxListed
  return (
    <Notice tone="bad">
      <strong>
        This change adds {countOf(found.added_count, 'hidden character')} ({kindsOf(found, 'added_count')}).
      </strong>
      <p>
        A model reads them, but most editors and review pages do not show them. They can carry instructions that no
        reviewer has seen. They are marked in the text below.
      </p>
      <ul className="hidden-positions">
        {added.slice(0, maxListed).map(({ line, column, label }) => (
          <li key={`${line}:${column}`}>
            Line {formatNumber(line)}, column {formatNumber(column)}: <code>{label}</code>
          </li>
        ))}
        {unlisted > 0 && <li>and {countOf(unlisted, 'more place')}</li>}
      </ul>
    </Notice>
  )
}

function kindsOf({ kinds }: Found, field: 'count' | 'added_count'): string {
  return kinds
    .filter((kind) => kind[field] > 0)
    .map((kind) => countOfKind(kind.kind, kind[field]))
    .join(', ')
}
