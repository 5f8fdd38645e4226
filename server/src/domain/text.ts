import { invalid } from './errors.ts'

const control = /\p{Cc}/u

/** A line of text that every engine can store and every terminal can show: not blank, no control characters, valid Unicode. */
export function validLine(field: string, text: string, longest: number): string {
  if (text.trim() === '') throw invalid(`${field} must not be empty`)
  if (text.length > longest) throw invalid(`${field} must be at most ${longest} characters long`)
  if (control.test(text)) throw invalid(`${field} must not contain control characters`)
  if (!text.isWellFormed()) throw invalid(`${field} must be valid Unicode`)
  return text
}

/** The nearest line of text to what somebody wrote elsewhere, who could write anything. */
export function sanitisedLine(text: string, longest: number, blank: string): string {
  return (
    text
      .replaceAll(/\p{Cc}+/gu, ' ')
      .trim()
      .slice(0, longest)
      .toWellFormed() || blank
  )
}
