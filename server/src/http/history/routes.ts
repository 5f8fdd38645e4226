import type { FastifyInstance } from 'fastify'
import { type NewHistoryEntryBody, operations } from '../../../../contract/history.ts'
import { type LineRange, rangesOf } from '../../domain/history/blamed-lines.ts'
import type { EntryDetails } from '../../domain/history/entry.ts'
import { searchedLength } from '../../domain/history/version-search.ts'
import { liveAt } from '../../domain/impact/live/live.ts'
import { type LiveEnvironment, liveEnvironments } from '../../domain/impact/live/live-environments.ts'
import { matchesPromptGlob, type Prompt } from '../../domain/prompt.ts'
import { firstCharacters } from '../../domain/text.ts'
import { isoTime } from '../../domain/time.ts'
import { trialsOfChanges } from '../../domain/trials/change-trials.ts'
import type { Context } from '../context.ts'
import { notFound } from '../errors.ts'
import { rounded, toTrialOfChange } from '../impact/body.ts'
import { idParameter, lastValue, type Query, timeParameter } from '../parameters.ts'
import { route } from '../route.ts'
import { parseHistoryEntry, toHiddenCharactersBody, toHistoryEntryBody } from './body.ts'
import type { ContentsReader } from './contents.ts'
import { listHistoryRoute } from './list.ts'

/** The changes of a prompt. */
export function historyRoutes(app: FastifyInstance, context: Context): void {
  const { contents: reader } = app
  listHistoryRoute(app, context)
  findEntryRoute(app, context)
  historyEntryRoutes(app, context, reader)
  livePromptRoute(app, context, reader)
  blameRoute(app, context, reader)
}

/** Finds the prompt of an entry, for people who know only the number of a change. */
function findEntryRoute(app: FastifyInstance, { store }: Context): void {
  route(app, operations.findHistoryEntry, async ({ access, params }) => {
    const { organisationId, prompts: glob } = access
    const entryId = idParameter(params, 'entry_id')
    const promptId = await store.history.promptIdOf(organisationId, entryId)
    const [prompt] = promptId === null ? [] : await store.prompts.withIds(organisationId, [promptId])
    if (prompt === undefined || !matchesPromptGlob(glob, prompt)) throw notFound()
    const entry = await store.history.find(prompt, entryId)
    if (entry === null) throw notFound()
    return { data: { prompt: { id: prompt.publicId, name: prompt.name }, entry: toHistoryEntryBody(entry) } }
  })
}

/** Record one history entry, or get one with its texts. */
function historyEntryRoutes(app: FastifyInstance, { store, clock }: Context, reader: ContentsReader): void {
  route(app, operations.recordHistory, async (request, reply) => {
    const entry = parseHistoryEntry(request.body as NewHistoryEntryBody)
    const recorded = await store.history.record(request.prompt, entry, clock(), request.access)
    return reply.status(201).send({ data: toHistoryEntryBody(recorded) })
  })

  route(app, operations.getHistoryEntry, async (request, reply) => {
    const entry = await store.history.find(request.prompt, idParameter(request.params, 'entry_id'))
    if (entry === null) throw notFound()
    const { message, actor, path, tooLarge, keyId } = entry
    const contents = await reader.contents(request.prompt.organisationId, entry, reply)
    const hidden = await toHiddenCharactersBody(entry, contents)
    const [trial] = await trialsOfChanges(store, request.access, request.prompt, [entry])
    const details = {
      message,
      actor,
      path,
      too_large: tooLarge,
      before: contents.before,
      after: contents.after,
      before_state: contents.beforeState,
      after_state: contents.afterState,
      patch: contents.patch,
      hidden_characters: hidden,
      key_id: keyId,
      trial: trial ? toTrialOfChange(trial) : null,
    }
    return { data: { ...toHistoryEntryBody(entry), ...details } }
  })
}

const unknownSource = { live_source: null, environment: null, share: 1, also_live: [] }

/** Which version of a prompt was live at a given time. */
function livePromptRoute(app: FastifyInstance, { store, clock }: Context, reader: ContentsReader): void {
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

/** Which change brought each line of a prompt. */
function blameRoute(app: FastifyInstance, { store, clock }: Context, reader: ContentsReader): void {
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

  async function requestedEntry(prompt: Prompt, id: string | undefined): Promise<EntryDetails | null> {
    if (id !== undefined) return store.history.find(prompt, idParameter({ id }, 'id'))
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
