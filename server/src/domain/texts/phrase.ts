import { invalidField } from '../errors.ts'
import { isLongerThan, normalised } from '../text.ts'

/** The words around a phrase in a text, on one line. `…` stands for what is left out. */
export interface Excerpt {
  before: string
  match: string
  after: string
}

const maxLength = 200
const beforeLength = 80
const afterLength = 120

/** Validates what to look for in texts. */
export function validPhrase(text: string | undefined): string {
  const phrase = onOneLine(text ?? '').trim()
  if (phrase === '') throw invalidField('q', 'must have at least one character that is not white space')
  if (isLongerThan(phrase, maxLength)) throw invalidField('q', `must have at most ${maxLength} characters`)
  return phrase
}

/**
 * A function that finds the first occurrence of a phrase in a text; null without one. Ignores case and Unicode normalisation, and a
 * space matches any white space, because a phrase may continue on the next line.
 */
export function phraseFinder(phrase: string): (text: string) => Excerpt | null {
  const term = onOneLine(phrase).toLowerCase()
  const [longestWord = ''] = term.split(' ').sort((a, b) => b.length - a.length)
  return (text) => {
    const normal = normalised(text)
    // Few texts contain the word, and looking for it takes a tenth of the time of replacing white space.
    if (!normal.toLowerCase().includes(longestWord)) return null
    const line = onOneLine(normal)
    const lower = line.toLowerCase()
    const start = lower.indexOf(term)
    if (start === -1) return null
    // A few letters, such as İ, have another length in lower case. Positions then only fit the text in lower case.
    return excerptOf(lower.length === line.length ? line : lower, start, start + term.length)
  }
}

function excerptOf(line: string, start: number, end: number): Excerpt {
  const [from, to] = [start - beforeLength, end + afterLength]
  // A copy, because a part of a string keeps the whole text in memory.
  return structuredClone({
    before: from <= 0 ? line.slice(0, start) : `… ${line.slice(from, start).replace(/^\S*\s?/, '')}`,
    match: line.slice(start, end),
    after: to >= line.length ? line.slice(end) : `${line.slice(end, to).replace(/\s?\S*$/, '')} …`,
  })
}

function onOneLine(text: string): string {
  return normalised(text).replaceAll(/\s+/g, ' ')
}
