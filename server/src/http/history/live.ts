import type { FastifyInstance } from 'fastify'
import { readerRoles } from '../../domain/access/api-key.ts'
import { liveAt } from '../../domain/impact/live.ts'
import { type LiveEnvironment, liveEnvironments } from '../../domain/impact/live-environments.ts'
import { isoTime } from '../../domain/time.ts'
import type { Context } from '../context.ts'
import { errorBodySchema, invalidTimeSchema } from '../error-schema.ts'
import { notFound } from '../errors.ts'
import { rounded } from '../impact/body.ts'
import { type Query, timeParameter } from '../parameters.ts'
import { promptParamsSchema } from '../prompts/id-schema.ts'
import { toHistoryEntryBody } from './body.ts'
import type { ContentsReader } from './contents.ts'
import { liveQuerySchema, liveSchema } from './live-schema.ts'

const schema = {
  operationId: 'getLive',
  summary: 'Get the live version',
  description:
    "The change that was live at a given time, with the prompt's text. 404 before the first change. If the repository is a " +
    'shallow clone, older changes are unknown: then `incomplete` is true before the first known one, `entry` is null, and ' +
    "`content` is the prompt's text at the start of the known history. By the deployments to production, if there are any, and " +
    'otherwise by the merges: see `live_source`. If several versions were live, the one with the largest share is returned, and ' +
    'the others are in `also_live`. `environments` has what ran in every environment.',
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

const unknownSource = { live_source: null, environment: null, share: 1, also_live: [] }

/** Which version of a prompt was live at a given time. */
export function livePromptRoute({ store, clock }: Context, reader: ContentsReader) {
  return async (app: FastifyInstance) => {
    app.get('/prompts/:prompt_id/live', { schema, config: { roles: readerRoles } }, async (request, reply) => {
      const now = clock()
      const at = timeParameter(request.query as Query, 'at') ?? now
      const [live, running] = await Promise.all([
        liveAt(store, request.prompt, at, now),
        liveEnvironments(store, request.prompt, at, now),
      ])
      const environments = running.map(toEnvironmentBody)
      if (live === null) {
        const earliest = await reader.earliestText(request.prompt, at, reply)
        if (earliest === null) throw notFound()
        const { path, text, state } = earliest
        const content = { content: text, content_state: state }
        return { data: { entry: null, path, ...content, incomplete: true, ...unknownSource, environments } }
      }
      const { entry, others } = live
      const { after, afterState } = await reader.contents(request.prompt.organisationId, entry, reply)
      const { path } = entry
      const texts = { content: after, content_state: afterState }
      const source = {
        live_source: live.source,
        environment: live.environment,
        share: live.share,
        also_live: others.map((other) => ({
          entry: toHistoryEntryBody(other.entry),
          share: other.share,
          environment: other.environment,
        })),
      }
      return { data: { entry: toHistoryEntryBody(entry), path, ...texts, incomplete: false, ...source, environments } }
    })
  }
}

function toEnvironmentBody({ environment, production, since, versions }: LiveEnvironment) {
  return {
    environment,
    production,
    since: isoTime(since),
    versions: versions.map(({ entry, commitSha, share }) => ({
      entry: entry && toHistoryEntryBody(entry),
      commit_sha: commitSha,
      share: rounded(share),
    })),
  }
}
