import { formatNumber } from '../ui/number.ts'
import { splitUntrusted, UntrustedText } from '../ui/untrusted-text.tsx'
import { tokensOf } from './prompt-syntax.ts'
import type { TextLine } from './text-lines.ts'

interface Props {
  lines: TextLine[]
  /** The line that the URL points at. */
  selected?: number | null
}

/** Lines of a prompt with their numbers. Selecting and copying them leaves the numbers out. */
export function NumberedLines({ lines, selected = null }: Props) {
  return lines.map(({ number, text, cut, isFrontMatter }) => (
    <div key={number} className="text-line" data-line={number} aria-current={number === selected ? 'true' : undefined}>
      <span>
        {splitUntrusted(tokensOf(text, isFrontMatter)).map(({ kind, ...part }, i) =>
          kind === null ? (
            // biome-ignore lint/suspicious/noArrayIndexKey: the parts of a line are never reordered.
            <UntrustedText key={i} {...part} />
          ) : (
            // biome-ignore lint/suspicious/noArrayIndexKey: the parts of a line are never reordered.
            <span key={i} className={`syntax-${kind}`}>
              <UntrustedText {...part} />
            </span>
          ),
        )}
        {cut > 0 && <span className="text-cut">… {formatNumber(cut)} more characters in this line</span>}
      </span>
    </div>
  ))
}
