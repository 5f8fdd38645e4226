import type { Readable } from 'node:stream'
import { type DomainError, invalid } from '../../domain/errors.ts'
import type { Upload, Uploads } from './uploads.ts'

// GitHub, which sends the largest deliveries, stops at 25 MB.
export const bodyLimit = 25 * 1024 * 1024

const minBytesPerSecond = 64 * 1024
// A connection may take this long to get going before the rate counts.
const graceMs = 5_000
const checkIntervalMs = 1_000

/** Reads the body of a delivery into memory, as long as it arrives fast enough and fits. */
export function readBody(body: Readable, upload: Upload, uploads: Uploads): Promise<Buffer> {
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
      uploads.receive(upload, chunk.length)
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

export function tooLarge(): DomainError {
  return invalid('The body is too large')
}
