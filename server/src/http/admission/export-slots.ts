import { setImmediate as nextTurn } from 'node:timers/promises'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { UnavailableError } from '../../domain/errors.ts'
import { onResponseEnd } from './connection.ts'
import type { Visit } from './decision.ts'
import type { LoadShedder } from './load-shedder.ts'
import type { Caller } from './occupancy.ts'

// An export holds up to a few megabytes for as long as its client takes to read it.
const maxExportsPerKey = 4
const maxExportsPerOrganisation = 8
const maxExports = 32

const tooManyExports = new UnavailableError(
  `Too many exports are running: at most ${maxExportsPerKey} per key, ${maxExportsPerOrganisation} per organisation ` +
    `and ${maxExports} per process. Retry when one has ended.`,
)

/** What all exports of a process share, of whatever data. */
export interface ExportSlots {
  /** Makes the response an export, until it has been read. Throws if too many are running. */
  takeSlot(request: FastifyRequest, reply: FastifyReply): void
  /** Makes the batches of all exports take turns. */
  inTurns: ReturnType<typeof createExportTurns>
}

export function createExportSlots(loadShedder: LoadShedder): ExportSlots {
  let exports = 0
  return {
    takeSlot(request, reply) {
      const caller = (request.visit as Visit).caller as Caller
      const { organisation } = caller
      const hasSlot =
        caller.exports < maxExportsPerKey && organisation.exports < maxExportsPerOrganisation && exports < maxExports
      if (!hasSlot) throw loadShedder.reject('exports', request, reply, tooManyExports)
      exports++
      caller.exports++
      organisation.exports++
      onResponseEnd(request.raw, reply.raw, () => {
        exports--
        caller.exports--
        organisation.exports--
      })
    },
    inTurns: createExportTurns(),
  }
}

/** Reads one batch per turn of the event loop, of all exports together. Otherwise large exports would slow down everyone. */
function createExportTurns(): <T>(batches: AsyncIterable<T>) => AsyncGenerator<T> {
  let lastTurn: Promise<void> = Promise.resolve()
  return async function* (batches) {
    for await (const batch of batches) {
      yield batch
      lastTurn = lastTurn.then(() => nextTurn())
      await lastTurn
    }
  }
}
