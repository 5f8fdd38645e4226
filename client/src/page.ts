import type { RequestOptions, Transport } from './request.ts'
import type { Page, PageQuery } from './types.ts'

/**
 * Wait for it and it is one page; iterate over it and it is everything from there on, page by page.
 *
 * Nothing is asked before one or the other happens.
 */
export interface Pages<Item> extends Promise<Page<Item>>, AsyncIterable<Item> {}

const mostAPage = 100

type Identified = { id: string | number } | { entry: { id: number } }

/** The pages of what a path lists. */
export function pages<Item extends Identified>(
  { json }: Transport,
  path: string,
  query: PageQuery = {},
  options?: RequestOptions,
): Pages<Item> {
  let asked: Promise<Page<Item>> | undefined
  const ask = (query: PageQuery) => json<Page<Item>>({ method: 'GET', path, query }, options)
  const first = () => {
    asked ??= ask(query)
    return asked
  }
  return {
    // biome-ignore lint/suspicious/noThenProperty: to be awaited is what it is for.
    then: (...handlers) => first().then(...handlers),
    catch: (handler) => first().catch(handler),
    finally: (handler) => first().finally(handler),
    [Symbol.toStringTag]: 'Promise',
    async *[Symbol.asyncIterator]() {
      // What is added meanwhile moves others to the next page, where they would be seen again.
      const seen = new Set<string | number>()
      // All of it comes fastest in large pages, but a page that was named has the size it was named for.
      const size = query.page === undefined ? { limit: mostAPage } : {}
      for (let number = query.page ?? 1; ; number++) {
        const { data, pagination } = await ask({ ...size, ...query, page: number })
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
