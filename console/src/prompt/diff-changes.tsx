import { ChevronDown, ChevronUp } from 'lucide-react'
import { type ReactNode, useRef, useState } from 'react'
import { useShortcut } from '../shortcuts.ts'
import type { Row } from './text-diff.ts'

const changed = '.diff-line:is(.added, .removed), .split-row:has(.added, .removed)'

/** A diff with buttons that lead from change to change; `n` and `p` do the same. */
export function DiffChanges({ rows, children }: { rows: readonly Pick<Row, 'kind'>[]; children: ReactNode }) {
  const box = useRef<HTMLDivElement>(null)
  const [current, setCurrent] = useState(0)
  const total = rows.filter(({ kind }, i) => isChanged(kind) && !isChanged(rows[i - 1]?.kind)).length
  function goTo(place: number) {
    const lines = [...(box.current?.querySelectorAll<HTMLElement>(changed) ?? [])]
    const starts = lines.filter(({ previousElementSibling: last }) => !last?.matches(changed))
    const start = starts[place - 1]
    if (start === undefined) return
    setCurrent(place)
    for (const line of lines) delete line.dataset.current
    for (let line: Element | null = start; line?.matches(changed); line = line.nextElementSibling)
      (line as HTMLElement).dataset.current = 'true'
    start.scrollIntoView({ block: 'center' })
  }
  const isUseful = total > 1
  useShortcut('n', isUseful ? () => goTo(Math.min(total, current + 1)) : null)
  useShortcut('p', isUseful ? () => goTo(Math.max(1, current - 1)) : null)
  return (
    <div ref={box} className="diff-changes">
      {isUseful && (
        <div className="diff-steps">
          <span className="muted small" role="status">
            {current === 0 ? `${total} changes` : `Change ${current} of ${total}`}
          </span>
          <button
            type="button"
            className="icon-button"
            aria-label="Previous change"
            title="Previous change (p)"
            aria-disabled={current <= 1}
            onClick={() => current > 1 && goTo(current - 1)}
          >
            <ChevronUp aria-hidden="true" />
          </button>
          <button
            type="button"
            className="icon-button"
            aria-label="Next change"
            title="Next change (n)"
            aria-disabled={current >= total}
            onClick={() => current < total && goTo(current + 1)}
          >
            <ChevronDown aria-hidden="true" />
          </button>
        </div>
      )}
      {children}
    </div>
  )
}

function isChanged(kind: Row['kind'] | undefined): boolean {
  return kind === 'added' || kind === 'removed'
}
