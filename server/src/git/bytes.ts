import { isUtf8 } from 'node:buffer'

/** Decodes text from git, which can be any bytes. Invalid UTF-8 becomes the replacement character. */
export function decode(bytes: Buffer): string {
  return bytes.toString('utf8')
}

/** Decodes a path without losing information. JSON cannot represent invalid UTF-8, so such bytes become `\xHH`. */
export function decodePath(bytes: Buffer): string {
  if (isUtf8(bytes)) return bytes.toString('utf8')
  let text = ''
  for (let start = 0; start < bytes.length; ) {
    const length = [1, 2, 3, 4].find((n) => start + n <= bytes.length && isUtf8(bytes.subarray(start, start + n)))
    const part = bytes.subarray(start, start + (length ?? 1))
    text += length === undefined ? `\\x${part.toString('hex')}` : part.toString('utf8')
    start += part.length
  }
  return text
}

/** Splits a stream of bytes at each NUL. Cuts off the rest of a field that is longer than `maxFieldBytes`, while reading it. */
export async function* splitAtNul(chunks: AsyncIterable<Buffer>, maxFieldBytes: number): AsyncGenerator<Buffer> {
  let rest: Buffer[] = []
  let restBytes = 0
  const add = (part: Buffer) => {
    const kept = part.subarray(0, maxFieldBytes - restBytes)
    // A copy, because a field of a few bytes would otherwise keep the whole chunk in memory.
    if (kept.length > 0) rest.push(Buffer.from(kept))
    restBytes += kept.length
  }
  let isInField = false
  for await (const chunk of chunks) {
    let start = 0
    for (let end = chunk.indexOf(0); end !== -1; end = chunk.indexOf(0, start)) {
      const part = chunk.subarray(start, end)
      if (rest.length > 0) add(part)
      yield rest.length === 0 ? part.subarray(0, maxFieldBytes) : Buffer.concat(rest)
      rest = []
      restBytes = 0
      isInField = false
      start = end + 1
    }
    if (start < chunk.length) {
      add(chunk.subarray(start))
      isInField = true
    }
  }
  if (isInField) throw new Error('git output ended in the middle of a field')
}
