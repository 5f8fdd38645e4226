import type { RequestOptions, Transport } from './request.ts'
import type { Page, PageQuery } from './types.ts'

/**
 * The result of a list call. Await it for one page, or iterate over it for every item from that page on.
 *
 * No request is sent before you do either. Iterating without a `page` fetches pages of 100, unless `limit` is set.
 */
export interface Pages<Item, OnePage = Page<Item>> extends Promise<OnePage>, AsyncIterable<Item> {}

const maxPageSize = 100

type Identified = { id: string | number } | { entry: { id: number } } | { prompt: { id: string }; at: string }

/** What the iteration needs from a page. */
interface AnyPage<Item> {
  data: Item[]
  pagination: { current_page: number; total_pages: number | null }
  search?: { cursor: string | null }
}

export function createPages<Item extends Identified, OnePage extends AnyPage<Item> = Page<Item>>(
  { json }: Transport,
  path: string,
  query: PageQuery = {},
  options?: RequestOptions,
): Pages<Item, OnePage> {
  let firstPage: Promise<OnePage> | undefined
  const fetchPage = (query: PageQuery & { cursor?: string }) => json<OnePage>({ method: 'GET', path, query }, options)
  const fetchOnce = () => {
    firstPage ??= fetchPage(query)
    return firstPage
  }
  return {
    // biome-ignore lint/suspicious/noThenProperty: callers await it like a promise.
    then: (...handlers) => fetchOnce().then(...handlers),
    catch: (handler) => fetchOnce().catch(handler),
    finally: (handler) => fetchOnce().finally(handler),
    [Symbol.toStringTag]: 'Promise',
    async *[Symbol.asyncIterator]() {
      // Items added meanwhile push others onto the next page, where they would be returned a second time.
      const seen = new Set<string | number>()
      // Large pages need the fewest requests, but a page number only makes sense with the caller's page size.
      const defaults = query.page === undefined ? { limit: maxPageSize } : {}
      let next: { page: number } | { cursor: string } = { page: query.page ?? 1 }
      for (;;) {
        const { data, pagination, search } = await fetchPage({ ...defaults, ...query, ...next })
        for (const item of data) {
          const id = idOf(item)
          if (!seen.has(id)) yield item
          seen.add(id)
        }
        if (search !== undefined) {
          if (search.cursor === null) return
          next = { cursor: search.cursor }
          continue
        }
        if (pagination.current_page >= (pagination.total_pages ?? 0)) return
        next = { page: pagination.current_page + 1 }
      }
    },
  }
}

function idOf(item: Identified): string | number {
  if ('id' in item) return item.id
  return 'entry' in item ? item.entry.id : `${item.prompt.id} ${item.at}`
}
