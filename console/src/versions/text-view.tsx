import { type ReactNode, useEffect, useMemo, useRef } from 'react'
import { useUrlParams } from '../url-params.ts'
import { LinePager } from './line-pager.tsx'
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
