import type { FastifyInstance } from 'fastify'
import { invalid } from '../../domain/errors.ts'
import { type Action, actions } from '../../domain/history/entry.ts'
import type { TimelineFilter } from '../../domain/history/history.ts'
import { type TimelineEntry, timelineOf } from '../../domain/impact/timeline.ts'
import { type Repository, webUrlOf } from '../../domain/repositories/repository.ts'
import { forgeOf } from '../../forges/index.ts'
import type { Context } from '../context.ts'
import { errorBodySchema, errorSchema } from '../error-schema.ts'
import { toHistoryEntryBody } from '../history/body.ts'
import { askedPage, renderPage } from '../page-body.ts'
import { checkSpan, lastOf, type Query, timeParameter } from '../parameters.ts'
import { promptParamsSchema } from '../prompts/id-schema.ts'
import { toEffectBody } from './body.ts'
import { type TimelineEntryBody, timelineQuerySchema, timelineSchema } from './schema.ts'

const noAction = `action must be one or several of ${actions.join(', ')}, with commas between`

const schema = {
  operationId: 'listTimeline',
  summary: 'Get the timeline',
  description:
    'The history with all that is known of each change, and what those that went live did to what users think. ' +
    'Newest first.',
  tags: ['Impact'],
  params: promptParamsSchema,
  querystring: timelineQuerySchema,
  response: {
    200: timelineSchema,
    401: errorBodySchema,
    403: errorBodySchema,
    404: errorBodySchema,
    422: errorSchema('validation_error', noAction),
    500: errorBodySchema,
  },
}

/** What happened to a prompt, and what came of it. */
export function timelineRoutes({ store, clock }: Context) {
  return async (app: FastifyInstance) => {
    app.get(
      '/prompts/:prompt_id/timeline',
      { schema, config: { roles: ['standard', 'admin'] } },
      async (request, reply) => {
        const asked = askedPage(request.query)
        const filter = filterOf(request.query as Query)
        const { entries, totalCount } = await timelineOf(store, request.prompt, filter, asked, clock())
        const repositories = await repositoriesOf(entries)
        const data = entries.map((each) => toBody(each, repositories.get(each.entry.repositoryId) ?? null))
        return reply.type('application/json; charset=utf-8').send(renderPage(data, asked, totalCount))
      },
    )
  }

  async function repositoriesOf(entries: TimelineEntry[]): Promise<Map<number | null, Repository | null>> {
    const ids = [...new Set(entries.map(({ entry }) => entry.repositoryId))].filter((id) => id !== null)
    return new Map(await Promise.all(ids.map(async (id) => [id, await store.repositories.find(id)] as const)))
  }
}

function filterOf(query: Query): TimelineFilter {
  const [since, until] = [timeParameter(query, 'since'), timeParameter(query, 'until')]
  checkSpan(['since', since], ['until', until])
  return { actions: actionsOf(lastOf(query.action)), since, until }
}

function actionsOf(text: string | undefined): Action[] | null {
  if (text === undefined) return null
  const words = text.split(',') as Action[]
  if (!words.every((word) => actions.includes(word))) throw invalid(noAction)
  return [...new Set(words)]
}

function toBody({ entry, impact }: TimelineEntry, repository: Repository | null): TimelineEntryBody {
  const { message, actor, path, commitSha } = entry
  return {
    entry: toHistoryEntryBody(entry),
    message,
    actor,
    path,
    commit_url: repository && webUrlOf(repository) + forgeOf(repository.forge).commitPath(commitSha),
    impact: impact && toEffectBody(impact),
  }
}
