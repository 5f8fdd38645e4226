import { dataOf } from '../data.ts'
import { type Pages, pages } from '../page.ts'
import type { RequestOptions, Transport } from '../request.ts'
import type { HistoryEntry, HistoryEntryDetails, Live, LiveQuery, NewHistoryEntry, PageQuery } from '../types.ts'
import { promptPath } from './prompts.ts'

export type History = ReturnType<typeof history>

export function history(service: Transport) {
  const pathOf = (promptId: string) => `${promptPath(promptId)}/history`
  return {
    /** The changes of a prompt, newest first. */
    list(promptId: string, query?: PageQuery, options?: RequestOptions): Pages<HistoryEntry> {
      return pages(service, pathOf(promptId), query, options)
    },

    /** One change, with the text before and after. */
    get(promptId: string, entryId: number, options?: RequestOptions): Promise<HistoryEntryDetails> {
      return dataOf(service, { method: 'GET', path: `${pathOf(promptId)}/${entryId}` }, options)
    },

    /** A change from another system. One that is there already, the same in every field, is given back. For keys of role `admin`. */
    record(promptId: string, body: NewHistoryEntry, options?: RequestOptions): Promise<HistoryEntry> {
      return dataOf(service, { method: 'POST', path: pathOf(promptId), body, repeatable: true }, options)
    },

    /** The change that was live at a time, with the prompt's text; not found before the first. */
    live(promptId: string, query?: LiveQuery, options?: RequestOptions): Promise<Live> {
      return dataOf(service, { method: 'GET', path: `${promptPath(promptId)}/live`, query }, options)
    },
  }
}
