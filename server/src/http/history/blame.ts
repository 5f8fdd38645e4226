import type { FastifyInstance } from 'fastify'
import { operations } from '../../../../contract/history.ts'
import { type LineRange, rangesOf } from '../../domain/history/blamed-lines.ts'
import type { EntryDetails } from '../../domain/history/entry.ts'
import { searchedLength } from '../../domain/history/version-search.ts'
import { liveAt } from '../../domain/impact/live.ts'
import type { Prompt } from '../../domain/prompt.ts'
import { firstCharacters } from '../../domain/text.ts'
import type { Context } from '../context.ts'
import { notFound } from '../errors.ts'
import { idParameter, lastValue, type Query } from '../parameters.ts'
import { route } from '../route.ts'

import { toHistoryEntryBody } from './body.ts'
import type { ContentsReader } from './contents.ts'

/** Which change brought each line of a prompt. */
export function blameRoute({ store, clock }: Context, reader: ContentsReader) {
  return async (app: FastifyInstance) => {
    route(app, operations.getBlame, async (request, reply) => {
      const { prompt } = request
      const entry = await requestedEntry(prompt, lastValue((request.query as Query).entry))
      if (entry === null) throw notFound()
      const { state, text, lines } = await reader.blame(prompt.organisationId, entry, reply)
      const commits = [...new Set(lines.map(({ commit }) => commit))]
      const ranges = rangesOf(lines, await store.history.entriesOfCommits(prompt, commits))
      return {
        data: {
          entry: toHistoryEntryBody(entry),
          path: entry.path,
          state,
          content: text,
          lines: ranges.map(toRangeBody),
          entries: entriesOf(ranges).map(({ message, actor, ...entry }) => ({
            entry: toHistoryEntryBody(entry),
            message: message && firstCharacters(message, searchedLength),
            actor,
          })),
        },
      }
    })
  }

  async function requestedEntry(prompt: Prompt, id: string | undefined): Promise<EntryDetails | null> {
    if (id !== undefined) return store.history.find(prompt, idParameter(id))
    const now = clock()
    return (await liveAt(store, prompt, now, now))?.entry ?? null
  }
}

function toRangeBody({ start, end, entry, commitSha }: LineRange) {
  return { start, end, entry_id: entry?.id ?? null, commit_sha: commitSha }
}

/** Each once, newest first. */
function entriesOf(ranges: LineRange[]): EntryDetails[] {
  const byId = new Map(ranges.flatMap(({ entry }) => (entry === null ? [] : [[entry.id, entry] as const])))
  return [...byId.values()].sort((a, b) => b.createdAt - a.createdAt || b.id - a.id)
}
