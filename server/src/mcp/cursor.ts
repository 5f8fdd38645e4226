import { invalidField } from '../domain/errors.ts'
import type { PageRequest } from '../domain/page.ts'

export const cursorSchema = { type: 'string', description: 'next_cursor of the previous result' } as const

function invalidCursor() {
  return invalidField('cursor', 'must be the next_cursor of a previous result with the same other arguments')
}

/** The page that a cursor leads to; the first one without a cursor. */
export function pageAt(cursor: string | undefined, limit: number): PageRequest {
  const page = cursor ?? '1'
  if (!/^[1-9]\d{0,8}$/.test(page)) throw invalidCursor()
  return { page, limit }
}

export function cursorAfter({ page, limit }: PageRequest, totalCount: number): string | null {
  return Number(page) * limit < totalCount ? String(Number(page) + 1) : null
}

/** Where to continue in the text of a change. */
export function textOffset(cursor: string | undefined, entryId: number): number {
  if (cursor === undefined) return 0
  const [, id, offset] = /^([1-9]\d{0,14})-([1-9]\d{0,14})$/.exec(cursor) ?? []
  if (id === undefined) throw invalidCursor()
  if (Number(id) !== entryId) {
    throw invalidField('cursor', 'belongs to the text of another change. Start again without a cursor')
  }
  return Number(offset)
}

export function textCursor(entryId: number, next: number | null): string | null {
  return next === null ? null : `${entryId}-${next}`
}
