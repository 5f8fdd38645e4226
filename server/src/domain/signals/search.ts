import { invalidField } from '../errors.ts'
import type { Prompt } from '../prompt.ts'
import { nextTurn } from '../time.ts'
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

/** Searches from the newest signal, or from the cursor, until `limit` signals are found or the bounds are reached. */
export async function searchSignals(
  store: Pick<SignalStore, 'searchNext'>,
  prompt: Prompt,
  filter: SignalSearchFilter,
  limit: number,
  from: SignalCursor | null,
): Promise<SignalSearch> {
  const deadline = performance.now() + maxMs
  const signals: StoredSignal[] = []
  let examined = 0
  let cursor = from
  for (;;) {
    const slice = await store.searchNext(prompt, filter, cursor)
    const room = limit - signals.length
    signals.push(...slice.matches.slice(0, room))
    examined += slice.examined
    if (slice.matches.length > room) return { signals, examined, cursor: cursorAt(signals.at(-1) as StoredSignal) }
    cursor = slice.last
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
