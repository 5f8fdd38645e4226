import type { FastifyInstance } from 'fastify'
import { operations } from '../../../../contract/history.ts'
import { liveAt } from '../../domain/impact/live.ts'
import { type LiveEnvironment, liveEnvironments } from '../../domain/impact/live-environments.ts'
import { isoTime } from '../../domain/time.ts'
import type { Context } from '../context.ts'
import { notFound } from '../errors.ts'
import { rounded } from '../impact/body.ts'
import { type Query, timeParameter } from '../parameters.ts'
import { route } from '../route.ts'

import { toHistoryEntryBody } from './body.ts'
import type { ContentsReader } from './contents.ts'

const unknownSource = { live_source: null, environment: null, share: 1, also_live: [] }

/** Which version of a prompt was live at a given time. */
export function livePromptRoute({ store, clock }: Context, reader: ContentsReader) {
  return async (app: FastifyInstance) => {
    route(app, operations.getLive, async (request, reply) => {
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
