import type { FastifyInstance } from 'fastify'
import { readerRoles } from '../../domain/access/api-key.ts'
import type { Context } from '../context.ts'
import { errorBodySchema, invalidTimeSchema } from '../error-schema.ts'
import { notFound } from '../errors.ts'
import { type Query, timeParameter } from '../parameters.ts'
import { promptParamsSchema } from '../prompts/id-schema.ts'
import { toHistoryEntryBody } from './body.ts'
import type { ContentsReader } from './contents.ts'
import { liveQuerySchema, liveSchema } from './schema.ts'

const schema = {
  operationId: 'getLive',
  summary: 'Get the live version',
  description:
    "The change that was live at a given time, with the prompt's text. 404 before the first change. If the repository is a " +
    'shallow clone, older changes are unknown: then `incomplete` is true before the first known one, `entry` is null, and ' +
    "`content` is the prompt's text at the start of the known history.",
  tags: ['History'],
  params: promptParamsSchema,
  querystring: liveQuerySchema,
  response: {
    200: liveSchema,
    401: errorBodySchema,
    403: errorBodySchema,
    404: errorBodySchema,
    422: invalidTimeSchema('at'),
    500: errorBodySchema,
  },
}

/** Which version of a prompt was live at a given time. */
export function livePromptRoute({ store, clock }: Context, reader: ContentsReader) {
  return async (app: FastifyInstance) => {
    app.get('/prompts/:prompt_id/live', { schema, config: { roles: readerRoles } }, async (request, reply) => {
      const now = clock()
      const at = timeParameter(request.query as Query, 'at') ?? now
      const entry = await store.history.live(request.prompt, at, now)
      if (entry === null) {
        const earliest = await reader.earliestText(request.prompt, at, reply)
        if (earliest === null) throw notFound()
        const { path, text, state } = earliest
        return { data: { entry: null, path, content: text, content_state: state, incomplete: true } }
      }
      const { after, afterState } = await reader.contents(request.prompt.organisationId, entry, reply)
      const { path } = entry
      const texts = { content: after, content_state: afterState }
      return { data: { entry: toHistoryEntryBody(entry), path, ...texts, incomplete: false } }
    })
  }
}
