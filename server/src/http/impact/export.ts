import type { FastifyInstance } from 'fastify'
import { operations, type TimelineEntryBody, timelineColumns } from '../../../../contract/impact.ts'
import { exportFormats } from '../../../../contract/schema.ts'
import type { TimelineEntry } from '../../domain/impact/timeline.ts'
import { streamTimeline } from '../../domain/impact/timeline-stream.ts'
import type { Repository } from '../../domain/repositories/repository.ts'
import { timelineWithTrials } from '../../domain/trials/change-trials.ts'
import type { Context } from '../context.ts'
import { sendExport } from '../export-stream.ts'
import { enumParameter, type Query } from '../parameters.ts'
import { route } from '../route.ts'
import { rounded, toTimelineEntryBody } from './body.ts'
import { requestedMoment } from './parameters.ts'
import { parseFilter } from './timeline.ts'

export function exportTimelineRoute(app: FastifyInstance, { store, learned, clock }: Context): void {
  route(app, operations.exportTimeline, async (request, reply) => {
    const query = request.query as Query
    const format = enumParameter(query, 'format', exportFormats) ?? 'ndjson'
    const { access, prompt } = request
    const filter = parseFilter(query)
    const moment = requestedMoment(query, clock())
    return sendExport(request, reply, {
      name: 'history',
      format,
      columns: timelineColumns,
      toCells,
      toText: (entry: TimelineEntryBody) => JSON.stringify(entry),
      async read() {
        const stream = streamTimeline(store, prompt, filter, moment, await learned.of(prompt))
        return bodiesOf(stream, (entries) => timelineWithTrials(store, access, prompt, moment, entries))
      },
    })
  })

  async function* bodiesOf(
    batches: AsyncIterable<TimelineEntry[]>,
    withTrials: (entries: TimelineEntry[]) => Promise<TimelineEntry[]>,
  ): AsyncGenerator<TimelineEntryBody[]> {
    const repositories = new Map<number, Repository | null>()
    for await (const batch of batches) {
      const entries = await withTrials(batch)
      for (const { entry } of entries) {
        const { repositoryId: id } = entry
        if (id !== null && !repositories.has(id)) repositories.set(id, await store.repositories.find(id))
      }
      yield entries.map((item) => toTimelineEntryBody(item, repositories.get(item.entry.repositoryId ?? 0) ?? null))
    }
  }
}

function toCells({ entry, message, actor, path, impact }: TimelineEntryBody): (string | number | null)[] {
  const { id, created_at, action, user, commit_sha, branch_name, pr_number, pr_url } = entry
  return [
    ...[id, created_at, action, user.name, user.email, actor, message, path],
    ...[commit_sha, branch_name, pr_number, pr_url],
    ...(impact === null ? noImpact : impactCells(impact)),
  ]
}

const noImpact = Array(timelineColumns.length - timelineColumns.indexOf('live_from')).fill(null)

function impactCells(impact: NonNullable<TimelineEntryBody['impact']>): (string | number | null)[] {
  const { before, after, difference, interval, effective_signals, verdict, explanation } = impact
  return [
    ...[impact.live_from, impact.live_until, impact.live_source],
    ...[before.positive, before.negative, roundedOrNull(before.rate)],
    ...[after.positive, after.negative, roundedOrNull(after.rate)],
    ...[difference, interval?.[0] ?? null, interval?.[1] ?? null],
    ...[effective_signals, verdict, explanation],
  ]
}

function roundedOrNull(rate: number | null): number | null {
  return rate === null ? null : rounded(rate)
}
