import type { FastifyInstance } from 'fastify'
import { invalidAction, type ModelChangeBody, operations } from '../../../../contract/impact.ts'
import { invalid } from '../../domain/errors.ts'
import { type Action, actions } from '../../domain/history/entry.ts'
import { pullEntries, type TimelineFilter } from '../../domain/history/history.ts'
import { type TimelineEntry, timelineEntryOf, timelineOf } from '../../domain/impact/timeline.ts'
import type { Repository } from '../../domain/repositories/repository.ts'
import type { ModelChange } from '../../domain/telemetry/model-changes.ts'
import { isoTime } from '../../domain/time.ts'
import { timelineWithTrials } from '../../domain/trials/change-trials.ts'
import type { Context } from '../context.ts'
import { notFound } from '../errors.ts'
import { requestedPage, sendPage } from '../page-body.ts'
import { checkTimeRange, enumParameter, idParameter, lastValue, type Query, timeParameter } from '../parameters.ts'
import { route } from '../route.ts'
import { toSegmentsBody, toTimelineEntryBody, toUnknownVersionsBody } from './body.ts'
import { requestedMoment, requestedSegment } from './parameters.ts'

export function timelineRoutes(app: FastifyInstance, { store, learned, clock }: Context): void {
  route(app, operations.listTimeline, async (request, reply) => {
    const pageRequest = requestedPage(request.query)
    const filter = parseFilter(request.query as Query)
    const moment = requestedMoment(request.query as Query, clock())
    const { prompt } = request
    const withModels = lastValue((request.query as Query).model_changes) === 'true'
    const timeline = await timelineOf(store, prompt, filter, pageRequest, moment, await learned.of(prompt), {
      withModels,
      withMetadata: request.access.shared?.includesSignals !== false,
    })
    const { totalCount, unknownVersions, modelChanges } = timeline
    const entries = await timelineWithTrials(store, request.access, prompt, moment, timeline.entries)
    const repositories = await repositoriesOf(entries)
    const data = entries.map((item) => toTimelineEntryBody(item, repositories.get(item.entry.repositoryId) ?? null))
    return sendPage(reply, data, pageRequest, totalCount, {
      unknown_versions: toUnknownVersionsBody(unknownVersions),
      ...(modelChanges !== null && { model_changes: modelChanges.slice(-maxModelChanges).map(toModelChangeBody) }),
    })
  })

  route(app, operations.getTimelineEntry, async (request) => {
    const { prompt } = request
    const query = request.query as Query
    const entryId = idParameter(request.params, 'entry_id')
    const moment = requestedMoment(query, clock())
    const by = await requestedSegment(store, request)
    const entry = await timelineEntryOf(store, prompt, entryId, moment, await learned.of(prompt), by)
    if (entry === null) throw notFound()
    const [found = entry] = await timelineWithTrials(store, request.access, prompt, moment, [entry])
    const { repositoryId } = found.entry
    const repository = repositoryId === null ? null : await store.repositories.find(repositoryId)
    const segments = found.impact?.segments ?? null
    return {
      data: {
        ...toTimelineEntryBody(found, repository),
        ...(by !== null && { segments: segments && toSegmentsBody(segments) }),
      },
    }
  })

  async function repositoriesOf(entries: TimelineEntry[]): Promise<Map<number | null, Repository | null>> {
    const ids = [...new Set(entries.map(({ entry }) => entry.repositoryId))].filter((id) => id !== null)
    return new Map(await Promise.all(ids.map(async (id) => [id, await store.repositories.find(id)] as const)))
  }
}

// The newest. A sender that alternates models could have any number.
const maxModelChanges = 100

function toModelChangeBody({ at, from, to, source }: ModelChange): ModelChangeBody {
  return { action: 'model_changed', created_at: isoTime(at), old_model: from, new_model: to, source }
}

export function parseFilter(query: Query): TimelineFilter {
  const [since, until] = [timeParameter(query, 'since'), timeParameter(query, 'until')]
  checkTimeRange(['since', since], ['until', until])
  const pulls = enumParameter(query, 'pulls', pullEntries) ?? 'all'
  return { actions: parseActions(lastValue(query.action)), since, until, pulls }
}

function parseActions(text: string | undefined): Action[] | null {
  if (text === undefined) return null
  const values = text.split(',') as Action[]
  if (!values.every((value) => actions.includes(value))) throw invalid(invalidAction)
  return [...new Set(values)]
}
