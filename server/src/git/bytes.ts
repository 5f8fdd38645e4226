import { isUtf8 } from 'node:buffer'

/** Text as git keeps it, which can be any bytes: what is not UTF-8 is replaced. Never a NUL, never half a character. */
export function decode(bytes: Buffer): string {
  return bytes.toString('utf8')
}

/**
 * A path, exactly. Names that are not UTF-8 cannot be told in JSON, so their odd bytes are written as `\xHH`.
 */
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

/** Cuts a stream of bytes at each NUL. */
export async function* nulFields(chunks: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  let rest: Buffer[] = []
  for await (const chunk of chunks) {
    let start = 0
    for (let end = chunk.indexOf(0); end !== -1; end = chunk.indexOf(0, start)) {
      const field = chunk.subarray(start, end)
      yield rest.length === 0 ? field : Buffer.concat([...rest, field])
      rest = []
      start = end + 1
    }
    if (start < chunk.length) rest.push(chunk.subarray(start))
  }
  if (rest.length > 0) throw new Error('git ended in the middle of a field')
}
