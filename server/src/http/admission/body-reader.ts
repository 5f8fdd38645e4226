import type { Readable } from 'node:stream'
import { invalid } from '../../domain/errors.ts'
import { bodyTooLarge } from '../errors.ts'
import type { StrangerBodies, StrangerBody } from './stranger-bodies.ts'

// Some milliseconds after each megabyte, which takes as long to receive: several strangers would otherwise take all the time.
const burstBytes = 1024 * 1024
const restMs = 4
const closedEarly = invalid('The connection closed before the body arrived')

/** Reads the body of a stranger into memory, as long as there is room for it, and resolves to its parts. */
export function readBody(stream: Readable, body: StrangerBody, bodies: StrangerBodies): Promise<Buffer[]> {
  const { promise, resolve, reject } = Promise.withResolvers<Buffer[]>()
  const parts: Buffer[] = []
  let received = 0

  function onData(part: Buffer): void {
    const bursts = Math.floor(received / burstBytes)
    received += part.length
    if (received > body.origin.bodyLimit) {
      fail(bodyTooLarge())
      return
    }
    parts.push(part)
    bodies.receive(body, part.length)
    if (received < (bursts + 1) * burstBytes) return
    stream.pause()
    setTimeout(() => stream.resume(), restMs)
  }

  function onEnd(): void {
    stop()
    resolve(parts)
  }

  function onClose(): void {
    fail(closedEarly)
  }

  function stop(): void {
    body.abort = null
    stream.off('data', onData).off('end', onEnd).off('error', onClose).off('close', onClose)
  }

  function fail(error: Error): void {
    stop()
    bodies.remove(body)
    reject(error)
  }

  stream.on('data', onData).on('end', onEnd).on('error', onClose).on('close', onClose)
  // If all of it has been received, nothing would be gained by rejecting it.
  if ('complete' in stream && stream.complete === false) body.abort = fail
  bodies.add(body)
  return promise
}
