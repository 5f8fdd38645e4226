import { invalidField } from './errors.ts'
import { describeHidden, findHidden } from './hidden-text.ts'

const control = /\p{Cc}/u

/**
 * The first characters of the text, whatever follows them. A character is a Unicode code point, as in JSON Schema, Python and SQL:
 * an emoji is one, though JavaScript counts two.
 */
export function firstCharacters(text: string, count: number): string {
  if (text.length <= count) return text
  let end = 0
  for (let i = 0; i < count && end < text.length; i++) end += (text.codePointAt(end) as number) > 0xffff ? 2 : 1
  return text.slice(0, end)
}

export function isLongerThan(text: string, maxLength: number): boolean {
  return text.length > maxLength && firstCharacters(text, maxLength).length < text.length
}

// Sorting the marks on one letter takes time that is quadratic in their number. Unicode's Stream-Safe Text Format allows 30.
const maxMarks = 30

/** The text in the form in which texts are compared. */
export function normalised(text: string): string {
  return text.replaceAll(/\p{M}+/gu, (marks) => firstCharacters(marks, maxMarks)).normalize()
}

/** For a search that ignores case and Unicode normalisation. */
export function folded(text: string): string {
  return normalised(text).toLowerCase()
}

/** Accepts one line that every engine can store and every terminal can show: not blank, no control characters, valid Unicode. */
export function validLine(field: string, text: string, maxLength: number): string {
  if (text.trim() === '') throw invalidField(field, 'must not be empty')
  if (isLongerThan(text, maxLength)) throw invalidField(field, `must be at most ${maxLength} characters long`)
  if (control.test(text)) throw invalidField(field, 'must not contain control characters')
  return validUnicode(field, text)
}

/** Accepts text of several lines. PostgreSQL cannot store NUL. */
export function validText(field: string, text: string, maxLength: number): string {
  if (text.trim() === '') throw invalidField(field, 'must not be empty')
  if (isLongerThan(text, maxLength)) throw invalidField(field, `must be at most ${maxLength} characters long`)
  if (text.includes('\0')) throw invalidField(field, 'must not contain NUL characters')
  return validUnicode(field, text)
}

/** Neither engine can store a lone surrogate. */
export function validUnicode(field: string, text: string): string {
  if (!text.isWellFormed()) throw invalidField(field, 'must be valid Unicode')
  return text
}

/** Like `validLine`, for a name that people choose. Hidden characters could make it look like another name. */
export function validName(field: string, text: string, maxLength: number): string {
  validLine(field, text, maxLength)
  const [first] = findHidden(text, 1)
  if (first !== undefined) {
    const { description } = describeHidden(text.slice(first.start, first.end), first.kind)
    const place = [...text.slice(0, first.start)].length + 1
    throw invalidField(field, `must not contain hidden characters, but has ${description} at character ${place}`)
  }
  return text
}

/** Sanitises untrusted text to one printable line. Returns `fallback` if nothing remains. */
export function sanitisedLine(text: string, maxLength: number, fallback: string): string {
  const line = text.replaceAll(/\p{Cc}+/gu, ' ').trim()
  return firstCharacters(line, maxLength).toWellFormed() || fallback
}
