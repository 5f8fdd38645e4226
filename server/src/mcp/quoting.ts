import { markHidden } from '../domain/hidden-text.ts'

// Tools return text that other people wrote: names, authors, messages, comments, prompts. A model must be able to tell it from ours. So
// it only occurs as a JSON string in a field whose name starts with `quoted_`, hidden characters are shown as marks, and its length is
// bounded as rendered, because escaping can make it six times as long.

/** A result as one line of JSON that cannot contain a tag: the frame that an agent puts around it may be made of tags. */
export function renderResult(result: object): string {
  return JSON.stringify(result).replaceAll(escaped, escapeOf)
}

const escaped = /[<\u2028\u2029]/g

function escapeOf(character: string): string {
  return `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`
}

/** Text of others in a field that starts with `quoted_`. Longer text ends with an ellipsis. */
export function quoted(text: string, maxLength: number): string {
  const start = text.slice(0, maxLength).toWellFormed()
  const marked = markHidden(start)
  const end = endWithin(marked, maxLength)
  return end === marked.length && start.length === text.length ? marked : `${marked.slice(0, end)}…`
}

// What forges write before the title of a pull request.
const mergeLine = /^Merge (pull request|branch|remote-tracking branch) /

/** The first line of a message that says what it is about, or null without a message. */
export function quotedTitle(message: string | null): string | null {
  if (message === null) return null
  const [first = '', second] = message
    .slice(0, 2_000)
    .split('\n')
    .filter((line) => line.trim() !== '')
  return quoted(mergeLine.test(first) ? (second ?? first) : first, 200)
}

interface TextPage {
  part: string
  /** Where the next part starts; null for the last one. */
  next: number | null
}

/** A part of a long text, from an offset on. */
export function textPage(text: string, from: number, maxLength: number): TextPage {
  for (let length = maxLength; ; length = Math.floor(length / 2)) {
    const end = endOfPart(text, from, length)
    const part = markHidden(text.slice(from, end).toWellFormed())
    // Line breaks and quotation marks of ordinary text are escaped too. Only unusual text needs shorter parts.
    if (endWithin(part, 1.5 * maxLength) === part.length || length < shortestPart) {
      return { part, next: end < text.length ? end : null }
    }
  }
}

const shortestPart = 64

/** Never between the two halves of a character. */
function endOfPart(text: string, from: number, length: number): number {
  const end = Math.min(text.length, from + length)
  const isHalf = end < text.length && /[\uD800-\uDBFF]/.test(text.charAt(end - 1))
  return isHalf ? end - 1 : end
}

/** How many characters of the text fit into this length once they are rendered. */
function endWithin(text: string, maxLength: number): number {
  let length = 0
  let end = 0
  for (const character of text) {
    length += renderedLength(character)
    if (length > maxLength) return end
    end += character.length
  }
  return end
}

// Everything else is rendered as it is.
const special = /["\\<\p{Cc}\u2028\u2029]/u

function renderedLength(character: string): number {
  return special.test(character) ? renderResult([character]).length - '[""]'.length : character.length
}
