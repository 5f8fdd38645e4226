import type { Readable } from 'node:stream'
import { invalid } from '../../domain/errors.ts'
import { bodyTooLarge } from '../errors.ts'
import type { StrangerBodies, StrangerBody } from './stranger-bodies.ts'

// Some milliseconds after each megabyte, which takes as long to receive: several strangers would otherwise take all the time.
const burstBytes = 1024 * 1024
const restMs = 4
// Node adds some hundred bytes to each piece, and senders choose how small the pieces are.
const smallBytes = 4 * 1024
const maxSmallPieces = 256
const closedEarly = invalid('The connection closed before the body arrived')

/** Reads the body of a stranger into memory, as long as there is room for it, and resolves to its parts. */
export function readBody(stream: Readable, body: StrangerBody, bodies: StrangerBodies): Promise<Buffer[]> {
  const { promise, resolve, reject } = Promise.withResolvers<Buffer[]>()
  const parts: Buffer[] = []
  let pieces: Buffer[] = []
  let received = 0

  function onData(piece: Buffer): void {
    const bursts = Math.floor(received / burstBytes)
    received += piece.length
    if (received > body.origin.bodyLimit) {
      fail(bodyTooLarge())
      return
    }
    pieces.push(piece)
    if (piece.length >= smallBytes || pieces.length === maxSmallPieces) join()
    bodies.receive(body, piece.length)
    if (received < (bursts + 1) * burstBytes) return
    stream.pause()
    setTimeout(() => stream.resume(), restMs)
  }

  function join(): void {
    const [first] = pieces
    if (first !== undefined) parts.push(pieces.length === 1 ? first : Buffer.concat(pieces))
    pieces = []
  }

  function onEnd(): void {
    stop()
    join()
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
