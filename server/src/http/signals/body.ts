import type { SelectedSignals } from '../../domain/impact/reading/signal-selection.ts'
import type { PageRequest } from '../../domain/page.ts'
import { cursorText, type SignalSearch } from '../../domain/signals/search.ts'
import type { Signal, StoredSignal } from '../../domain/signals/signal.ts'
import { signalText } from '../../domain/signals/signal-text.ts'
import { isoTime } from '../../domain/time.ts'
import { renderPageJson, searchPagination } from '../page-body.ts'

// Built by hand because metadata is stored as JSON text and must come back exactly as sent.

export function renderSignal({ id, value, createdAt }: Signal): string {
  const text = value === null ? 'null' : `"${value}"`
  return `{"id":${id},"value":${text},"created_at":"${isoTime(createdAt)}"}`
}

/** The results of a search. The number of matches is known only if the search began with the newest signal and examined all. */
export function renderSearch(
  { signals, examined, cursor }: SignalSearch,
  limit: number,
  isFirst: boolean,
  counted: SelectedSignals['counted'],
): string {
  const isComplete = cursor === null
  const count = isFirst && isComplete ? signals.length : null
  const pagination = searchPagination(limit, count)
  const search = {
    complete: isComplete,
    examined,
    searched_back_to: isComplete ? null : isoTime(cursor.at),
    cursor: isComplete ? null : cursorText(cursor),
  }
  const data = `[${signals.map(signalText).join(',')}]`
  return `{"data":${data},"pagination":${JSON.stringify(pagination)},"search":${JSON.stringify(search)}${renderChange(counted)}}`
}

export function renderSignalPage(
  signals: StoredSignal[],
  request: PageRequest,
  totalCount: number,
  counted: SelectedSignals['counted'],
): string {
  const page = renderPageJson(`[${signals.map(signalText).join(',')}]`, request, totalCount)
  return `${page.slice(0, -1)}${renderChange(counted)}}`
}

function renderChange(counted: SelectedSignals['counted']): string {
  if (counted === null) return ''
  const { entryId, side, counted: count, hours } = counted
  const listed = hours.reduce((sum, { positive, negative }) => sum + positive + negative, 0)
  return `,"change":${JSON.stringify({ entry_id: entryId, side, counted: count, removed: count - listed })}`
}

/**
 * `signalText` on one line. JSON allows line breaks between values, and a sender could use them to make part of its metadata look
 * like a line of its own. They cannot occur inside strings, so a space in place of each leaves the value as it is.
 */
export function renderSignalLine(signal: StoredSignal): string {
  return signalText(signal).replaceAll(/[\r\n]/g, ' ')
}
