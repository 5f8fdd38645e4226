import { invalidField } from './errors.ts'

const control = /\p{Cc}/u

/** Accepts one line that every engine can store and every terminal can show: not blank, no control characters, valid Unicode. */
export function validLine(field: string, text: string, maxLength: number): string {
  if (text.trim() === '') throw invalidField(field, 'must not be empty')
  if (text.length > maxLength) throw invalidField(field, `must be at most ${maxLength} characters long`)
  if (control.test(text)) throw invalidField(field, 'must not contain control characters')
  if (!text.isWellFormed()) throw invalidField(field, 'must be valid Unicode')
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
