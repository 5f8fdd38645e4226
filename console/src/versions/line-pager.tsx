import { ChevronLeft, ChevronRight } from 'lucide-react'
import { type FormEvent, useState } from 'react'
import { Button } from '../ui/button.tsx'
import { countOf, formatNumber } from '../ui/number.ts'
import { useUrlParams } from '../url-params.ts'
import { linesPerPage } from './text-lines.ts'

interface Props {
  /** The first shown line. */
  first: number
  total: number
  /** Of the text, in characters. */
  length: number
}

/** How long the text is; and, if it does not fit on one page, which lines are shown and a way to the others. */
export function LinePager({ first, total, length }: Props) {
  const [, setParams] = useUrlParams()
  const goTo = (line: number) => setParams({ line: String(line) })
  if (total <= linesPerPage) {
    return (
      <p className="line-pager muted small">
        {countOf(total, 'line')}, {countOf(length, 'character')}
      </p>
    )
  }
  const last = Math.min(first + linesPerPage - 1, total)
  return (
    <nav className="line-pager" aria-label="Lines of the text">
      <Button onClick={() => goTo(first - linesPerPage)} disabled={first === 1} aria-label="Previous lines">
        <ChevronLeft aria-hidden="true" />
      </Button>
      <span>
        Lines {formatNumber(first)}–{formatNumber(last)} of {formatNumber(total)}
      </span>
      <Button onClick={() => goTo(last + 1)} disabled={last === total} aria-label="Next lines">
        <ChevronRight aria-hidden="true" />
      </Button>
      <GoToLine total={total} onGo={goTo} />
      <span className="muted small">Copy and Download take the whole text ({countOf(length, 'character')}).</span>
    </nav>
  )
}

function GoToLine({ total, onGo }: { total: number; onGo: (line: number) => void }) {
  const [text, setText] = useState('')
  function go(event: FormEvent) {
    event.preventDefault()
    const line = Number(text)
    if (Number.isInteger(line) && line >= 1) onGo(Math.min(line, total))
  }
  return (
    <form className="go-to-line" onSubmit={go}>
      <input
        type="number"
        min={1}
        max={total}
        aria-label="Go to line"
        placeholder="Go to line"
        value={text}
        onChange={({ target }) => setText(target.value)}
      />
    </form>
  )
}
