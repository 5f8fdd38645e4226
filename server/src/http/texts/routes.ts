import type { FastifyInstance } from 'fastify'
import { operations, type TextMatchBody } from '../../../../contract/versions.ts'
import { validPhrase } from '../../domain/texts/phrase.ts'
import { parseTextCursor, searchTexts, type TextMatch, textCursorText } from '../../domain/texts/text-search.ts'
import { isoTime } from '../../domain/time.ts'
import type { Context } from '../context.ts'
import { toHistoryEntryBody } from '../history/body.ts'
import { createReadPool, limitsOfLongReads } from '../history/read-pool.ts'
import { requestedPage, searchPagination } from '../page-body.ts'
import { lastValue, type Query } from '../parameters.ts'
import { route } from '../route.ts'
import { visiblePrompts } from '../visible-prompts.ts'

/** Search in the texts of prompts. */
export function textRoutes(app: FastifyInstance, { store, repositories, clock }: Context): void {
  const searches = createReadPool(limitsOfLongReads)

  route(app, operations.searchTexts, async ({ access, query }) => {
    const { limit } = requestedPage(query)
    const phrase = validPhrase(lastValue((query as Query).q))
    const text = lastValue((query as Query).cursor)
    const from = text === undefined ? null : parseTextCursor(text)
    const { organisationId } = access
    const promptIds = await visiblePrompts(store.prompts, access)
    const request = { organisationId, promptIds, phrase, limit, cursor: from }
    const { matches, examined, skipped, cursor } = await searches.run(organisationId, () =>
      searchTexts(store, repositories, request, clock()),
    )
    const isComplete = cursor === null
    return {
      data: matches.map(toMatchBody),
      pagination: searchPagination(limit, from === null && isComplete ? matches.length : null),
      search: { complete: isComplete, examined, skipped, cursor: cursor && textCursorText(cursor) },
    }
  })
}

function toMatchBody({ prompt, entry, firstEntry, ...match }: TextMatch): TextMatchBody {
  return {
    prompt: { id: prompt.publicId, name: prompt.name },
    entry: toHistoryEntryBody(entry),
    first_entry: toHistoryEntryBody(firstEntry),
    version_count: match.versionCount,
    live: match.liveUntil === null,
    live_from: isoTime(match.liveFrom),
    live_until: match.liveUntil === null ? null : isoTime(match.liveUntil),
    excerpt: match.excerpt,
  }
}
