import { Fragment } from 'react'
import {
  countOfKind,
  describeHidden,
  findHidden,
  type HiddenRun,
  markHidden as visibleText,
} from '../../../server/src/domain/hidden-text.ts'

/** `visibleText` is for attributes and other plain text: it shows hidden characters as `⟦U+202E RLO⟧`. */
export { countOfKind, visibleText }

// Thousands of elements in one line would block the browser. Beyond this, the marks are plain text.
const maxMarks = 500

interface Props {
  text: string
  /** The hidden characters of the text, if they were found in a longer one. */
  runs?: HiddenRun[] | undefined
}

/** Text from outside, such as a name or a prompt. Hidden characters are shown as labelled marks. */
export function UntrustedText({ text, runs = findHidden(text, maxMarks + 1) }: Props) {
  if (runs.length === 0) return text
  if (runs.length > maxMarks) return visibleText(text)
  return (
    <>
      {runs.map(({ kind, start, end }, i) => {
        const { label, description } = describeHidden(text.slice(start, end), kind)
        const name = `Hidden: ${description}`
        return (
          <Fragment key={start}>
            {text.slice(runs[i - 1]?.end ?? 0, start)}
            <span className="hidden-character" role="img" aria-label={name} title={name}>
              ⟦{label}⟧
            </span>
          </Fragment>
        )
      })}
      {text.slice(runs.at(-1)?.end)}
    </>
  )
}

/**
 * The parts of one text, each with its hidden characters. They are found in the whole text, because a part may begin in the middle
 * of an emoji.
 */
export function splitUntrusted<Part extends { text: string }>(parts: Part[]): (Part & Props)[] {
  const runs = findHidden(parts.map(({ text }) => text).join(''), maxMarks + 1)
  let offset = 0
  return parts.map((part) => {
    const [from, to] = [offset, offset + part.text.length]
    offset = to
    if (runs.length > maxMarks) return part
    const inside = runs.filter(({ start, end }) => start < to && end > from)
    const clipped = inside.map(({ kind, start, end }) => ({
      kind,
      start: Math.max(start, from) - from,
      end: Math.min(end, to) - from,
    }))
    return { ...part, runs: clipped }
  })
}
