import { decode } from './bytes.ts'
import { git, gitOutput } from './run.ts'

/** A blob whose text is null is missing from the mirror if its size is null too, and otherwise exceeds the limit. */
interface BlobText {
  blob: string
  size: number | null
  text: string | null
}

/** Streams the texts of these blobs, in order, with one git process. Leaves out the texts of more than `maxBytes`. */
export async function* readTexts(mirror: string, blobs: string[], maxBytes: number): AsyncGenerator<BlobText> {
  if (blobs.length === 0) return
  const unique = [...new Set(blobs)]
  const sizes = new Map<string, number>()
  const sizesKnown = Promise.withResolvers<void>()
  const isReadable = (blob: string) => (sizes.get(blob) ?? Number.POSITIVE_INFINITY) <= maxBytes
  // Asks for the sizes first, because git would hold a huge blob in memory.
  async function* commands() {
    yield commandsFor('info', unique)
    await sizesKnown.promise
    yield commandsFor('contents', blobs.filter(isReadable))
  }
  const output = createReader(gitOutput(['cat-file', '--batch-command', '--buffer'], { mirror, input: commands() }))
  try {
    for (const blob of unique) {
      const [, type, size] = (await output.takeLine()).split(' ')
      if (type === 'blob') sizes.set(blob, Number(size))
    }
    sizesKnown.resolve()
    for (const blob of blobs) {
      const size = sizes.get(blob) ?? null
      if (size === null || !isReadable(blob)) {
        yield { blob, size, text: null }
        continue
      }
      // git precedes each blob with a line `<hash> blob <size>` and ends it with a line break.
      await output.takeLine()
      const text = decode(await output.take(size))
      await output.take(1)
      yield { blob, size, text }
    }
  } finally {
    sizesKnown.resolve()
    await output.close()
  }
}

function commandsFor(command: string, blobs: string[]): string {
  return `${blobs.map((blob) => `${command} ${blob}\n`).join('')}flush\n`
}

/** The sizes of the blobs that the mirror has, in bytes. */
export async function readSizes(mirror: string, blobs: string[]): Promise<Map<string, number>> {
  const input = blobs.map((blob) => `${blob}\n`).join('')
  const lines = decode(
    await git(['cat-file', '--batch-check=%(objectname) %(objecttype) %(objectsize)'], { mirror, input }),
  )
  return new Map(
    lines.split('\n').flatMap((line) => {
      const [blob = '', type, size] = line.split(' ')
      return type === 'blob' ? [[blob, Number(size)] as const] : []
    }),
  )
}

/** Reads a stream in pieces of exact size, and short lines. */
function createReader(chunks: AsyncGenerator<Buffer>) {
  let rest: Buffer = Buffer.alloc(0)
  async function readMore(parts: Buffer[]): Promise<void> {
    const next = await chunks.next()
    if (next.done) throw new Error('git cat-file ended in the middle of a blob')
    parts.push(next.value)
  }
  async function take(size: number): Promise<Buffer> {
    const parts = [rest]
    for (let length = rest.length; length < size; length += parts.at(-1)?.length ?? 0) await readMore(parts)
    const all = parts.length === 1 ? rest : Buffer.concat(parts)
    rest = all.subarray(size)
    return all.subarray(0, size)
  }
  return {
    take,
    async takeLine(): Promise<string> {
      let end = rest.indexOf(lineFeed)
      for (; end === -1; end = rest.indexOf(lineFeed)) {
        const parts = [rest]
        await readMore(parts)
        rest = Buffer.concat(parts)
      }
      const line = await take(end + 1)
      return line.toString('latin1', 0, end)
    },
    close: () => chunks.return(undefined),
  }
}

const lineFeed = 0x0a
