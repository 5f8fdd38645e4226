import type { RequestOptions, Transport } from './request.ts'
import type { Page, PageQuery } from './types.ts'

/**
 * The result of a list call. Await it for one page, or iterate over it for every item from that page on.
 *
 * No request is sent before you do either. Iterating without a `page` fetches pages of 100, unless `limit` is set.
 */
export interface Pages<Item> extends Promise<Page<Item>>, AsyncIterable<Item> {}

const maxPageSize = 100

type Identified = { id: string | number } | { entry: { id: number } }

export function createPages<Item extends Identified>(
  { json }: Transport,
  path: string,
  query: PageQuery = {},
  options?: RequestOptions,
): Pages<Item> {
  let firstPage: Promise<Page<Item>> | undefined
  const fetchPage = (query: PageQuery) => json<Page<Item>>({ method: 'GET', path, query }, options)
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
      for (let number = query.page ?? 1; ; number++) {
        const { data, pagination } = await fetchPage({ ...defaults, ...query, page: number })
        for (const item of data) {
          const id = 'entry' in item ? item.entry.id : item.id
          if (!seen.has(id)) yield item
          seen.add(id)
        }
        if (pagination.current_page >= pagination.total_pages) return
      }
    },
  }
}
