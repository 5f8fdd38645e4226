import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'

// Plain git, on purpose: a mistake in server/src/git/ must not hide itself here.

/** A clone that is only read. Objects that git computes go to `scratch`. */
export interface Clone {
  path: string
  scratch: string
}

function start({ path, scratch }: Clone, args: string[]): ChildProcessWithoutNullStreams {
  const env = {
    PATH: process.env.PATH ?? '',
    HOME: tmpdir(),
    LC_ALL: 'C',
    GIT_CONFIG_NOSYSTEM: '1',
    GIT_CONFIG_GLOBAL: '/dev/null',
    GIT_OBJECT_DIRECTORY: join(scratch, 'objects'),
    GIT_ALTERNATE_OBJECT_DIRECTORIES: join(path, 'objects'),
    // A clone that belongs to another user is only read.
    GIT_CONFIG_COUNT: '1',
    GIT_CONFIG_KEY_0: 'safe.directory',
    GIT_CONFIG_VALUE_0: '*',
  }
  return spawn('git', ['--no-replace-objects', '--git-dir', path, ...args], { env })
}

export interface Objects {
  /** The ID that a name such as `main:README.md` stands for; null if there is none. */
  idOf(name: string): Promise<string | null>
  /** The text of a blob; null if it is missing or longer than `maxBytes`. */
  textOf(blob: string, maxBytes: number): Promise<string | null>
  close(): void
}

/** Answers many questions with one process each, because starting git takes longer than the answer. */
export function openObjects(clone: Clone): Objects {
  const check = start(clone, ['cat-file', '--batch-check=%(objectname) %(objectsize)'])
  const batch = start(clone, ['cat-file', '--batch'])
  const [checked, texts] = [createReader(check), createReader(batch)]
  const describe = async (name: string) => {
    check.stdin.write(`${name}\n`)
    const line = await checked.line()
    return /^([0-9a-f]{40,64}) (\d+)$/.exec(line)
  }
  return {
    idOf: async (name) => (name.includes('\n') ? null : ((await describe(name))?.[1] ?? null)),
    async textOf(blob, maxBytes) {
      const [, , size] = (await describe(blob)) ?? []
      if (size === undefined || Number(size) > maxBytes) return null
      batch.stdin.write(`${blob}\n`)
      await texts.line()
      const text = (await texts.take(Number(size))).toString()
      await texts.take(1)
      return text
    },
    close() {
      for (const child of [check, batch]) child.stdin.end()
    },
  }
}

function createReader({ stdout }: ChildProcessWithoutNullStreams) {
  const chunks = stdout[Symbol.asyncIterator]()
  let rest: Buffer = Buffer.alloc(0)
  const more = async () => {
    const next = await chunks.next()
    if (next.done) throw new Error('git cat-file ended early')
    rest = Buffer.concat([rest, next.value])
  }
  const take = async (size: number) => {
    while (rest.length < size) await more()
    const taken = rest.subarray(0, size)
    rest = rest.subarray(size)
    return taken
  }
  return {
    take,
    async line(): Promise<string> {
      while (!rest.includes(0x0a)) await more()
      const taken = await take(rest.indexOf(0x0a) + 1)
      return taken.toString().trimEnd()
    },
  }
}

/** Everything that git prints. Throws with its error message if it fails. */
export async function gitText(clone: Clone, args: string[], input = ''): Promise<string> {
  const parts: Buffer[] = []
  for await (const part of output(clone, args, input)) parts.push(part)
  return Buffer.concat(parts).toString()
}

/** Whether git exits with 0. */
export async function gitSucceeds(clone: Clone, args: string[]): Promise<boolean> {
  return gitText(clone, args).then(
    () => true,
    () => false,
  )
}

/** Streams the output, split at line breaks or NUL. Stops git when the consumer stops. */
export async function* gitFields(
  clone: Clone,
  args: string[],
  separator: '\n' | '\0',
  input: string | Iterable<string> = '',
): AsyncGenerator<string> {
  for await (const field of gitBytes(clone, args, separator, input)) yield field.toString()
}

/** Like `gitFields`, for fields that may not be UTF-8. */
export async function* gitBytes(
  clone: Clone,
  args: string[],
  separator: '\n' | '\0',
  input: string | Iterable<string> = '',
): AsyncGenerator<Buffer> {
  const code = separator.charCodeAt(0)
  let rest: Buffer[] = []
  for await (const chunk of output(clone, args, input)) {
    let from = 0
    for (let at = chunk.indexOf(code); at !== -1; at = chunk.indexOf(code, from)) {
      const part = chunk.subarray(from, at)
      yield rest.length === 0 ? part : Buffer.concat([...rest, part])
      rest = []
      from = at + 1
    }
    if (from < chunk.length) rest.push(chunk.subarray(from))
  }
  if (rest.length > 0) yield Buffer.concat(rest)
}

async function* output(clone: Clone, args: string[], input: string | Iterable<string>): AsyncGenerator<Buffer> {
  const child = start(clone, args)
  let errors = ''
  child.stderr.on('data', (data) => {
    errors = (errors + data).slice(-2_000)
  })
  // git may end before it has read everything.
  pipeline(Readable.from(typeof input === 'string' ? [input] : input), child.stdin).catch(() => {})
  const ended = new Promise<number | null>((resolve, reject) => {
    child.on('error', reject)
    child.on('close', resolve)
  })
  let isComplete = false
  try {
    for await (const chunk of child.stdout) yield chunk
    isComplete = true
  } finally {
    if (!isComplete) child.kill()
  }
  const code = await ended
  if (code !== 0) throw new Error(`git ${args[0]} failed: ${errors.trim() || `exit ${code}`}`)
}
