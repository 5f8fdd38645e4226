import { randomUUID } from 'node:crypto'
import { type FileHandle, mkdir, open, readFile, rename, rm, writeFile } from 'node:fs/promises'
import { dirname, resolve } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import type { QueuedSignal, Spool } from './queue.ts'

// Lines that tell nothing any more are worth rewriting the file from here on.
const mostIdleLines = 10_000
// Milliseconds, within which two processes that find a lock left behind have both written their own.
const settlingTime = 100

const inUse = new Set<string>()

/**
 * Keeps signals in a file until they have arrived, across the end of the process, however sudden.
 *
 * For Node. Each process needs a file of its own.
 */
export function fileSpool(file: string): Spool {
  const path = resolve(file)
  const kept = new Map<string, string>()
  let handle: FileHandle | undefined
  let lines = 0
  let unwritten = ''
  let isWhole = true
  let writing: Promise<void> = Promise.resolve()
  let isWriting = false
  let tell: (error: unknown) => void = () => {}

  function write(line: string): void {
    unwritten += line
    lines++
    if (!isWriting && handle !== undefined) writing = writeAll()
  }

  async function writeAll(): Promise<void> {
    isWriting = true
    try {
      while (unwritten !== '') {
        if (!isWhole || lines > kept.size + mostIdleLines) await rewrite()
        else await append()
      }
    } catch (error) {
      // Some of it may be in the file and some not: the next time everything is written anew.
      isWhole = false
      tell(error)
    } finally {
      isWriting = false
    }
  }

  async function append(): Promise<void> {
    const text = unwritten
    unwritten = ''
    await handle?.appendFile(text)
    await handle?.datasync()
  }

  /** The file with what counts and nothing else, whole at any time. */
  async function rewrite(): Promise<void> {
    unwritten = ''
    lines = kept.size
    const next = await open(`${path}.new`, 'w')
    try {
      await next.writeFile([...kept.values()].join(''))
      await next.datasync()
      await rename(`${path}.new`, path)
    } catch (error) {
      await next.close()
      throw error
    }
    await handle?.close()
    handle = next
    isWhole = true
  }

  return {
    async open(onError) {
      tell = onError
      await mkdir(dirname(path), { recursive: true })
      await lock(path)
      const left = await read(path).catch(async (error) => {
        await unlock(path)
        throw error
      })
      // What was added since comes after what was left.
      const added = [...kept]
      kept.clear()
      for (const signal of left) kept.set(signal.key, lineOf(signal))
      for (const [key, line] of added) kept.set(key, line)
      await rewrite()
      if (unwritten !== '') writing = writeAll()
      return left
    },

    add(signal) {
      const line = lineOf(signal)
      kept.set(signal.key, line)
      write(line)
    },

    remove(key) {
      if (kept.delete(key)) write(`${JSON.stringify({ done: key })}\n`)
    },

    written: () => writing,

    async close() {
      await writing
      await rewrite().catch(tell)
      await handle?.close()
      await unlock(path)
    },
  }
}

function lineOf(signal: QueuedSignal): string {
  return `${JSON.stringify(signal)}\n`
}

/** What was added and not done. A process that was killed may have left half a line. */
async function read(path: string): Promise<QueuedSignal[]> {
  const text = await readFile(path, 'utf8').catch((error) => {
    if (error.code === 'ENOENT') return ''
    throw error
  })
  const left = new Map<string, QueuedSignal>()
  for (const line of text.split('\n')) {
    const said = parse(line)
    if (said === null) continue
    if ('done' in said) left.delete(said.done)
    else left.set(said.key, said)
  }
  return [...left.values()]
}

function parse(line: string): QueuedSignal | { done: string } | null {
  try {
    return JSON.parse(line)
  } catch {
    return null
  }
}

/** Two processes on one file would each write over what the other keeps. */
async function lock(path: string): Promise<void> {
  const file = `${path}.lock`
  const mine = `${process.pid} ${randomUUID()}`
  if (inUse.has(path)) throw new Error(`${path} is in use by another queue of this process`)
  inUse.add(path)
  try {
    await writeFile(file, mine, { flag: 'wx' })
    return
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw release(path, error)
  }
  const owner = Number.parseInt(await readFile(file, 'utf8'), 10)
  if (owner !== process.pid && isAlive(owner)) {
    throw release(path, new Error(`${path} is in use by process ${owner}: give each process a spool of its own`))
  }
  await writeFile(file, mine)
  await setTimeout(settlingTime)
  if ((await readFile(file, 'utf8')) !== mine) {
    throw release(path, new Error(`${path} is in use by another process: give each process a spool of its own`))
  }
}

function release(path: string, error: unknown): unknown {
  inUse.delete(path)
  return error
}

async function unlock(path: string): Promise<void> {
  inUse.delete(path)
  await rm(`${path}.lock`, { force: true })
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM'
  }
}
