import { invalidField } from '../errors.ts'
import type { Prompt } from '../prompt.ts'
import { nextTurn } from '../time.ts'
import type { Span } from './interval.ts'
import type { SignalCursor, SignalSearchFilter, SignalStore, StoredSignal } from './signal.ts'

export interface SignalSearch {
  signals: StoredSignal[]
  examined: number
  /** Where to continue. Null if all signals have been examined. */
  cursor: SignalCursor | null
}

// A search examines at most this many signals, and works for about this long, so that it cannot hold up other requests.
const maxExamined = 10_000
const maxMs = 500

/**
 * Searches from the newest signal, or from the cursor, until `limit` signals are found or the bounds are reached. With `spans`,
 * newest first, only these times.
 */
export async function searchSignals(
  store: Pick<SignalStore, 'searchNext'>,
  prompt: Prompt,
  filter: SignalSearchFilter,
  limit: number,
  from: SignalCursor | null,
  spans: readonly Span[] | null = null,
): Promise<SignalSearch> {
  const deadline = performance.now() + maxMs
  const signals: StoredSignal[] = []
  let examined = 0
  let cursor = from
  // A span that starts after the cursor has been examined.
  const left = spans?.filter((span) => from === null || span.from <= from.at)
  for (let i = 0; ; ) {
    const span = left?.[i]
    if (left !== undefined && span === undefined) return { signals, examined, cursor: null }
    const within = span === undefined ? filter : { ...filter, since: span.from, until: span.until }
    const slice = await store.searchNext(prompt, within, cursor)
    const room = limit - signals.length
    signals.push(...slice.matches.slice(0, room))
    examined += slice.examined
    if (slice.matches.length > room) return { signals, examined, cursor: cursorAt(signals.at(-1) as StoredSignal) }
    cursor = slice.last
    const next = cursor === null ? left?.[++i] : undefined
    // Signals at the end of a span are not part of it, so the next one is examined from its end on.
    if (next !== undefined) cursor = { at: next.until, id: 0 }
    const isOver = signals.length === limit || examined >= maxExamined || performance.now() > deadline
    if (cursor === null || isOver) return { signals, examined, cursor }
    // Lets other requests run between the slices.
    await nextTurn()
  }
}

function cursorAt({ occurredAt, id }: StoredSignal): SignalCursor {
  return { at: occurredAt, id }
}

export function cursorText({ at, id }: SignalCursor): string {
  return `${at}-${id}`
}

export function parseCursor(text: string): SignalCursor {
  const [, at, id] = /^(\d{1,15})-(\d{1,15})$/.exec(text) ?? []
  if (at === undefined || id === undefined) throw invalidField('cursor', 'must be the cursor of a previous response')
  return { at: Number(at), id: Number(id) }
}
