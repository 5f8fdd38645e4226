import type { FastifyInstance } from 'fastify'
import { type NewHistoryEntryBody, operations } from '../../../../contract/history.ts'
import type { Context } from '../context.ts'
import { notFound } from '../errors.ts'
import { idParameter } from '../parameters.ts'
import { route } from '../route.ts'

import { withoutAddresses } from '../shares/restricted.ts'
import { parseHistoryEntry, toHistoryEntryBody } from './body.ts'
import type { ContentsReader } from './contents.ts'
import { toHiddenCharactersBody } from './hidden-characters.ts'

/** Record one history entry, or get one with its texts. */
export function historyEntryRoutes({ store, clock }: Context, reader: ContentsReader) {
  return async (app: FastifyInstance) => {
    route(app, operations.recordHistory, async (request, reply) => {
      const entry = parseHistoryEntry(request.body as NewHistoryEntryBody)
      const recorded = await store.history.record(request.prompt, entry, clock(), request.access)
      return reply.status(201).send({ data: toHistoryEntryBody(recorded) })
    })

    route(app, operations.getHistoryEntry, async (request, reply) => {
      const { entry_id: entryId } = request.params as { entry_id: string }
      const entry = await store.history.find(request.prompt, idParameter(entryId))
      if (entry === null) throw notFound()
      const { message, actor, path, tooLarge, keyId } = entry
      const isShared = request.access.shared !== undefined
      const contents = await reader.contents(request.prompt.organisationId, entry, reply)
      const hidden = toHiddenCharactersBody(entry, contents)
      const details = {
        message: isShared ? withoutAddresses(message) : message,
        actor,
        path,
        too_large: tooLarge,
        before: contents.before,
        after: contents.after,
        before_state: contents.beforeState,
        after_state: contents.afterState,
        patch: contents.patch,
        hidden_characters: hidden,
        key_id: isShared ? null : keyId,
      }
      return { data: { ...toHistoryEntryBody(entry), ...details } }
    })
  }
}
