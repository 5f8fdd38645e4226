import type { IncomingMessage } from 'node:http'

// Node adds some hundred bytes to each piece.
const pieceBytes = 4 * 1024

/**
 * Joins the chunks of a body that is sent in chunks. Senders choose how small they are, and Node keeps each as a buffer of its own: two
 * megabytes in chunks of one byte would take 600.
 */
export function joinChunks(request: IncomingMessage): void {
  if (request.headers['transfer-encoding'] === undefined) return
  const push = request.push.bind(request)
  let joined = Buffer.alloc(0)
  let used = 0

  function flush(): boolean {
    const piece = joined.subarray(0, used)
    used = 0
    joined = Buffer.alloc(0)
    return piece.length === 0 || push(piece)
  }

  request.push = (chunk: Buffer | null) => {
    if (chunk === null || chunk.length > pieceBytes) {
      flush()
      return push(chunk)
    }
    const isFull = used + chunk.length > pieceBytes
    const goesOn = isFull ? flush() : true
    if (used === 0) joined = Buffer.allocUnsafeSlow(pieceBytes)
    used += chunk.copy(joined, used)
    return goesOn
  }
}
