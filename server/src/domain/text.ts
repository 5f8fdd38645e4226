import { invalidField } from './errors.ts'
import { describeHidden, findHidden } from './hidden-text.ts'

const control = /\p{Cc}/u

/** Accepts one line that every engine can store and every terminal can show: not blank, no control characters, valid Unicode. */
export function validLine(field: string, text: string, maxLength: number): string {
  if (text.trim() === '') throw invalidField(field, 'must not be empty')
  if (text.length > maxLength) throw invalidField(field, `must be at most ${maxLength} characters long`)
  if (control.test(text)) throw invalidField(field, 'must not contain control characters')
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
    throw invalidField(
      field,
      `must not contain hidden characters, but has ${description} at character ${first.start + 1}`,
    )
  }
  return text
}

/** Sanitises untrusted text to one printable line. Returns `fallback` if nothing remains. */
export function sanitisedLine(text: string, maxLength: number, fallback: string): string {
  return (
    text
      .replaceAll(/\p{Cc}+/gu, ' ')
      .trim()
      .slice(0, maxLength)
      .toWellFormed() || fallback
  )
}
