import { X } from 'lucide-react'
import type { ReactNode } from 'react'

interface Props {
  removeLabel: string
  onRemove: () => void
  children: ReactNode
}

/** A filter that is set, and a button that removes it. */
export function FilterChip({ removeLabel, onRemove, children }: Props) {
  return (
    <span className="filter-chip">
      <span className="filter-chip-text">{children}</span>
      <button type="button" aria-label={removeLabel} title={removeLabel} onClick={onRemove}>
        <X aria-hidden="true" />
      </button>
    </span>
  )
}
