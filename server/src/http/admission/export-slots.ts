import type { FastifyReply, FastifyRequest } from 'fastify'
import { UnavailableError } from '../../domain/errors.ts'
import { onResponseEnd } from './connection.ts'
import type { Visit } from './decision.ts'
import type { LoadShedder } from './load-shedder.ts'
import type { Caller } from './occupancy.ts'
import { createTurnstile } from './turnstile.ts'

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
  /** Makes the batches of exports take turns. */
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

// Most of the time that a batch takes longer is that of a client that does not read.
const maxRestMs = 25

/**
 * Reads one batch per turn of the event loop, of all exports together, and rests for as long as the last one took. Of each organisation one
 * is read at a time. Otherwise large exports would slow down everyone, here and in the database.
 */
function createExportTurns(): <T>(request: FastifyRequest, batches: AsyncGenerator<T>) => AsyncGenerator<T> {
  const nextTurn = createTurnstile()
  return async function* (request, batches) {
    const { organisation } = (request.visit as Visit).caller as Caller
    try {
      for (;;) {
        const reading = organisation.exportRead.then(() => batches.next())
        organisation.exportRead = reading.catch(() => {})
        const { done, value } = await reading
        if (done) return
        const start = performance.now()
        yield value
        await nextTurn(Math.min(performance.now() - start, maxRestMs))
      }
    } finally {
      await batches.return(undefined)
    }
  }
}
