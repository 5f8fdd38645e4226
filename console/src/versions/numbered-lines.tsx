import { formatNumber } from '../ui/number.ts'
import { UntrustedText } from '../ui/untrusted-text.tsx'
import type { TextLine } from './text-lines.ts'

interface Props {
  lines: TextLine[]
  /** The line that the URL points at. */
  selected?: number | null
}

/** Lines of a prompt with their numbers. Selecting and copying them leaves the numbers out. */
export function NumberedLines({ lines, selected = null }: Props) {
  return lines.map(({ number, text, cut }) => (
    <div key={number} className="text-line" data-line={number} aria-current={number === selected ? 'true' : undefined}>
      <span>
        <UntrustedText text={text} />
        {cut > 0 && <span className="text-cut">… {formatNumber(cut)} more characters in this line</span>}
      </span>
    </div>
  ))
}
