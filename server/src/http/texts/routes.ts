import type { FastifyInstance } from 'fastify'
import { readerRoles } from '../../domain/access/api-key.ts'
import { validPhrase } from '../../domain/texts/phrase.ts'
import { parseTextCursor, searchTexts, type TextMatch, textCursorText } from '../../domain/texts/text-search.ts'
import { isoTime } from '../../domain/time.ts'
import type { Context } from '../context.ts'
import { errorBodySchema, errorSchema } from '../error-schema.ts'
import { toHistoryEntryBody } from '../history/body.ts'
import { createReadPool, limitsOfLongReads } from '../history/read-pool.ts'
import { requestedPage, searchPagination } from '../page-body.ts'
import { lastValue, type Query } from '../parameters.ts'
import { visiblePrompts } from '../visible-prompts.ts'
import { type TextMatchBody, textSearchPageSchema, textSearchQuerySchema } from './schema.ts'

const schema = {
  operationId: 'searchTexts',
  summary: 'Search the texts of all prompts',
  description:
    'The versions of all prompts that contain a phrase, whether they are live or were once. Consecutive versions of a prompt that contain ' +
    'it are one result, with the change that brought it. What is live comes first, then the newest prompt and its newest version. One ' +
    'request examines up to 10,000 versions, for about a second: `search` says how far it got, and `cursor` continues. `total_count` is ' +
    'null unless one request examined all.',
  tags: ['History'],
  querystring: textSearchQuerySchema,
  response: {
    200: textSearchPageSchema,
    401: errorBodySchema,
    403: errorBodySchema,
    422: errorSchema('validation_error', 'q must have at most 200 characters'),
    500: errorBodySchema,
  },
}

/** Search in the texts of prompts. */
export function textRoutes({ store, repositories, clock }: Context) {
  const searches = createReadPool(limitsOfLongReads)

  return async (app: FastifyInstance) => {
    app.get('/texts', { schema, config: { roles: readerRoles } }, async ({ access, query }) => {
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
