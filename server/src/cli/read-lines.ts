export interface Line {
  number: number
  text: string
}

const maxLineBytes = 1024 * 1024
const decoder = new TextDecoder('utf-8', { fatal: true })

/** Reads non-blank lines from a stream. Holds at most one line and one chunk in memory. */
export async function* readLines(source: AsyncIterable<Buffer>): AsyncGenerator<Line> {
  let number = 0
  let rest: Buffer[] = []
  let restLength = 0

  function* finishLine(bytes: Buffer): Generator<Line> {
    checkLength(restLength + bytes.length)
    number++
    const text = decode(number, rest.length === 0 ? bytes : Buffer.concat([...rest, bytes]))
    rest = []
    restLength = 0
    if (text.trim() !== '') yield { number, text }
  }

  function checkLength(length: number): void {
    if (length > maxLineBytes) throw new Error(`line ${number + 1}: longer than ${maxLineBytes} bytes`)
  }

  for await (const chunk of source) {
    let start = 0
    for (let end = chunk.indexOf(0x0a); end !== -1; end = chunk.indexOf(0x0a, start)) {
      yield* finishLine(chunk.subarray(start, end))
      start = end + 1
    }
    rest.push(chunk.subarray(start))
    restLength += chunk.length - start
    checkLength(restLength)
  }
  if (restLength > 0) yield* finishLine(Buffer.alloc(0))
}

function decode(number: number, bytes: Buffer): string {
  try {
    return decoder.decode(bytes)
  } catch {
    throw new Error(`line ${number}: not valid UTF-8`)
  }
}
