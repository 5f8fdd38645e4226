import type { FastifyInstance } from 'fastify'
import { operations } from '../../../../contract/versions.ts'
import { searchedLength } from '../../domain/history/version-search.ts'
import { type LiveWindow, liveFrom, liveUntil } from '../../domain/impact/live/live-window.ts'
import { type Version, versionsOf } from '../../domain/impact/live/versions.ts'
import { firstCharacters } from '../../domain/text.ts'
import { isoTime, timeOrNull } from '../../domain/time.ts'
import type { Context } from '../context.ts'
import { toHistoryEntryBody } from '../history/body.ts'
import { rounded, toWindowBodies } from '../impact/body.ts'
import { requestedPage, sendPage } from '../page-body.ts'
import { lastValue, type Query } from '../parameters.ts'
import { route } from '../route.ts'

/** The changes of a prompt that went live. */
export function versionRoutes(app: FastifyInstance, { store, clock }: Context): void {
  route(app, operations.listVersions, async (request, reply) => {
    const pageRequest = requestedPage(request.query)
    const search = lastValue((request.query as Query).q) ?? ''
    const { versions, totalCount, isComplete } = await versionsOf(store, request.prompt, search, pageRequest, clock())
    return sendPage(reply, versions.map(toVersionBody), pageRequest, totalCount, { complete: isComplete })
  })
}

function toVersionBody({ entry, period, live }: Version) {
  return {
    entry: toHistoryEntryBody(entry),
    message: entry.message && firstCharacters(entry.message, searchedLength),
    path: entry.path,
    live: live && { share: rounded(live.share), environment: live.environment },
    live_from: isoTime(liveFrom(period)),
    live_until: timeOrNull(liveUntil(period)),
    live_source: (period.windows[0] as LiveWindow).source,
    live_windows: toWindowBodies(period.windows),
  }
}
