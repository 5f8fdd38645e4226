import { ChevronLeft, ChevronRight } from 'lucide-react'
import { type FormEvent, type ReactNode, useEffect, useMemo, useRef, useState } from 'react'
import { Button } from '../ui/button.tsx'
import { countOf, formatNumber } from '../ui/number.ts'
import { useUrlParams } from '../url-params.ts'
import { NumberedLines } from './numbered-lines.tsx'
import { countLines, linesFrom, linesPerPage, type TextLine } from './text-lines.ts'

interface Props {
  text: string
  /** How to show the lines, if not plainly. */
  children?: (lines: TextLine[], selected: number | null) => ReactNode
}

/** A text with line numbers, as many lines as the browser can take. `?line=` selects one. */
export function TextView({ text, children }: Props) {
  const [params] = useUrlParams()
  const total = useMemo(() => countLines(text), [text])
  const selected = lineFrom(params, total)
  const first = selected === null ? 1 : Math.floor((selected - 1) / linesPerPage) * linesPerPage + 1
  const lines = useMemo(() => linesFrom(text, first, linesPerPage), [text, first])
  const view = useScrollToLine(selected)
  if (text === '') return <p className="muted">The file is empty.</p>
  const pager = <LinePager first={first} total={total} length={text.length} />
  return (
    <>
      {pager}
      <div className="text-lines" ref={view}>
        {children === undefined ? <NumberedLines lines={lines} selected={selected} /> : children(lines, selected)}
      </div>
      {total > linesPerPage && pager}
    </>
  )
}

/** The selected line in the URL. */
function lineFrom(params: URLSearchParams, total: number): number | null {
  const line = Number(params.get('line'))
  return Number.isInteger(line) && line >= 1 ? Math.min(line, total) : null
}

function useScrollToLine(selected: number | null) {
  const view = useRef<HTMLDivElement>(null)
  useEffect(() => {
    if (selected !== null) view.current?.querySelector('[aria-current]')?.scrollIntoView({ block: 'center' })
  }, [selected])
  return view
}

interface LinePagerProps {
  /** The first shown line. */
  first: number
  total: number
  /** Of the text, in characters. */
  length: number
}

/** How long the text is; and, if it does not fit on one page, which lines are shown and a way to the others. */
function LinePager({ first, total, length }: LinePagerProps) {
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
