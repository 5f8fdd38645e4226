import { notFound } from '../domain/errors.ts'

/** A number in a path; anything else names nothing. */
export function pathId(text: string): number {
  if (!/^[1-9]\d{0,14}$/.test(text)) throw notFound()
  return Number(text)
}
