import type { Readable } from 'node:stream'
import type { FastifyInstance, FastifyRequest } from 'fastify'
import { operations } from '../../../../contract/service.ts'
import { type DomainError, invalid } from '../../domain/errors.ts'
import { isHookId, type Repository } from '../../domain/repositories/repository.ts'
import type { Context } from '../context.ts'
import { notFound } from '../errors.ts'
import { route } from '../route.ts'
import { createUploads, type Upload, type Uploads, uploadLimits } from './uploads.ts'

declare module 'fastify' {
  interface FastifyRequest {
    /** The repository that the webhook belongs to. */
    repository: Repository
    /** Null until the body arrives. */
    upload: Upload | null
  }
}

/** Receives webhook deliveries: verifies and stores each one, then responds. The worker processes it later. */
export function webhookRoutes(app: FastifyInstance, { store, repositories }: Context): void {
  const uploads = createUploads(uploadLimits, () => app.loadShedder.countRejection('webhooks'))
  app.decorateRequest('repository')
  app.decorateRequest('upload', null)
  app.removeAllContentTypeParsers()
  // Keep the raw bytes, whatever the content type: the signature covers them.
  app.addContentTypeParser('*', async (request: FastifyRequest, body: Readable) => {
    if (Number(request.headers['content-length']) > bodyLimit) throw tooLarge()
    request.upload = { hookId: request.repository.hookId, bytes: 0, abort: null }
    return readBody(body, request.upload, uploads)
  })
  // The memory of a body is in use until the delivery is stored.
  app.addHook('onSend', (request, _reply, payload, done) => {
    if (request.upload !== null) uploads.remove(request.upload)
    done(null, payload)
  })

  /** Runs before the body is read, so that only a known webhook URL can make us receive 25 MB. */
  async function onRequest(request: FastifyRequest): Promise<void> {
    const { hook_id: hookId } = request.params as { hook_id: string }
    const repository = isHookId(hookId) ? await store.repositories.findByHook(hookId) : null
    if (repository === null || repository.disconnectedAt !== null) throw notFound()
    request.repository = repository
  }

  route(
    app,
    operations.receiveDelivery,
    async ({ repository, headers, body }, reply) => {
      await repositories.receive(repository, { headers, body: (body as Buffer | undefined) ?? Buffer.alloc(0) })
      return reply.status(202).send({ data: { status: 'accepted' } })
    },
    { onRequest, bodyLimit },
  )
}

// GitHub, which sends the largest deliveries, stops at 25 MB.
const bodyLimit = 25 * 1024 * 1024

const minBytesPerSecond = 64 * 1024
// A connection may take this long to get going before the rate counts.
const graceMs = 5_000
const checkIntervalMs = 1_000
// Some milliseconds after each megabyte, which takes as long to receive: several strangers would otherwise take all the time.
const burstBytes = 1024 * 1024
const restMs = 4

/** Reads the body of a delivery into memory, as long as it arrives fast enough and fits. */
function readBody(body: Readable, upload: Upload, uploads: Uploads): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = []
    const startedAt = performance.now()
    const timer = setInterval(checkRate, checkIntervalMs)

    function end(): void {
      upload.abort = null
      clearInterval(timer)
      body.off('data', onData).off('end', onEnd).off('error', onClose).off('close', onClose)
    }

    function fail(error: Error): void {
      end()
      uploads.remove(upload)
      reject(error)
    }

    function checkRate(): void {
      const countedMs = performance.now() - startedAt - graceMs
      if (upload.bytes >= (minBytesPerSecond * countedMs) / 1_000) return
      fail(invalid(`The body arrives too slowly: send at least ${minBytesPerSecond} bytes a second`))
    }

    function onData(chunk: Buffer): void {
      if (upload.bytes + chunk.length > bodyLimit) {
        fail(tooLarge())
        return
      }
      chunks.push(chunk)
      const bursts = Math.floor(upload.bytes / burstBytes)
      uploads.receive(upload, chunk.length)
      if (upload.bytes < (bursts + 1) * burstBytes) return
      body.pause()
      setTimeout(() => body.resume(), restMs)
    }

    function onEnd(): void {
      end()
      resolve(Buffer.concat(chunks))
    }

    function onClose(): void {
      fail(invalid('The connection closed before the body arrived'))
    }

    upload.abort = fail
    uploads.add(upload)
    body.on('data', onData).on('end', onEnd).on('error', onClose).on('close', onClose)
  })
}

function tooLarge(): DomainError {
  return invalid('The body is too large')
}
