import { decode } from './bytes.ts'
import { git, gitOutput } from './run.ts'

/** Streams the texts of these blobs, in order. Yields null for a blob that the mirror lacks or that exceeds `maxBytes`. */
export async function* readTexts(
  mirror: string,
  blobs: string[],
  maxBytes: number,
): AsyncGenerator<{ blob: string; text: string | null }> {
  const sizes = await readSizes(mirror, [...new Set(blobs)])
  const readable = blobs.filter((blob) => (sizes.get(blob) ?? Number.POSITIVE_INFINITY) <= maxBytes)
  const input = readable.map((blob) => `${blob}\n`).join('')
  const output = createReader(gitOutput(['cat-file', '--batch', '--buffer'], { mirror, input }))
  try {
    for (const blob of blobs) {
      const size = sizes.get(blob) ?? Number.POSITIVE_INFINITY
      if (size > maxBytes) {
        yield { blob, text: null }
        continue
      }
      // git precedes each blob with a line `<hash> blob <size>` and ends it with a line break.
      await output.take(`${blob} blob ${size}\n`.length)
      const text = decode(await output.take(size))
      await output.take(1)
      yield { blob, text }
    }
  } finally {
    await output.close()
  }
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

/** Reads a stream in pieces of exact size. */
function createReader(chunks: AsyncGenerator<Buffer>) {
  let rest: Buffer = Buffer.alloc(0)
  return {
    async take(size: number): Promise<Buffer> {
      const parts = [rest]
      let length = rest.length
      while (length < size) {
        const next = await chunks.next()
        if (next.done) throw new Error('git cat-file ended in the middle of a blob')
        parts.push(next.value)
        length += next.value.length
      }
      const all = parts.length === 1 ? rest : Buffer.concat(parts)
      rest = all.subarray(size)
      return all.subarray(0, size)
    },
    close: () => chunks.return(undefined),
  }
}
