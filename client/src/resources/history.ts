import { requestData } from '../data.ts'
import { createPages, type Pages } from '../page.ts'
import type { RequestOptions, Transport } from '../request.ts'
import type {
  FoundEntry,
  HistoryEntry,
  HistoryEntryDetails,
  Live,
  LiveQuery,
  NewHistoryEntry,
  PageQuery,
} from '../types.ts'
import { promptPath } from './prompts.ts'

export type History = ReturnType<typeof history>

export function history(service: Transport) {
  const pathOf = (promptId: string) => `${promptPath(promptId)}/history`
  return {
    /** Lists the changes of a prompt, newest first. */
    list(promptId: string, query?: PageQuery, options?: RequestOptions): Pages<HistoryEntry> {
      return createPages(service, pathOf(promptId), query, options)
    },

    /** Returns one change, with the text of the prompt before and after it. */
    get(promptId: string, entryId: number, options?: RequestOptions): Promise<HistoryEntryDetails> {
      return requestData(service, { method: 'GET', path: `${pathOf(promptId)}/${entryId}` }, options)
    },

    /** Finds a change by its ID alone, with the prompt that it belongs to. */
    find(entryId: number, options?: RequestOptions): Promise<FoundEntry> {
      return requestData(service, { method: 'GET', path: `/history/${entryId}` }, options)
    },

    /**
     * Records a change from another system. Recording the same change again returns the existing entry. Needs a key with
     * the role `recorder` or `admin`.
     */
    record(promptId: string, body: NewHistoryEntry, options?: RequestOptions): Promise<HistoryEntry> {
      return requestData(service, { method: 'POST', path: pathOf(promptId), body, isIdempotent: true }, options)
    },

    /** Returns the change that was live at a time, with the text of the prompt. Not found before the first change. */
    live(promptId: string, query?: LiveQuery, options?: RequestOptions): Promise<Live> {
      return requestData(service, { method: 'GET', path: `${promptPath(promptId)}/live`, query }, options)
    },
  }
}
