import { randomUUID } from 'node:crypto'
import { type FileHandle, mkdir, open, readFile, rename, rm, writeFile } from 'node:fs/promises'
import { dirname, resolve } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import type { QueuedSignal, Spool } from './queue.ts'

// The file is rewritten once it has this many lines about signals that are done.
const maxObsoleteLines = 10_000
// The signals in the file may hold personal data, so only the owner may read it.
const fileMode = 0o600
// Two processes that find the same stale lock have both written their own within this time.
const lockSettleMs = 100

const openPaths = new Set<string>()

/**
 * Stores signals in a file until they are recorded, so that they survive a crash of the process.
 *
 * For Node. Each process needs its own file.
 */
export function fileSpool(file: string): Spool {
  const path = resolve(file)
  const stored = new Map<string, string>()
  let handle: FileHandle | undefined
  let lineCount = 0
  let unwritten = ''
  let isIntact = true
  let writing: Promise<void> = Promise.resolve()
  let isWriting = false
  let reportError: (error: unknown) => void = () => {}

  function write(line: string): void {
    unwritten += line
    lineCount++
    if (!isWriting && handle !== undefined) writing = writeAll()
  }

  async function writeAll(): Promise<void> {
    isWriting = true
    try {
      while (unwritten !== '') {
        if (!isIntact || lineCount > stored.size + maxObsoleteLines) await rewrite()
        else await append()
      }
    } catch (error) {
      // The file may hold part of the lines, so the next write replaces it.
      isIntact = false
      reportError(error)
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

  /** Replaces the file by one with only the stored signals. The rename is atomic, so a crash leaves a complete file. */
  async function rewrite(): Promise<void> {
    unwritten = ''
    lineCount = stored.size
    const next = await open(`${path}.new`, 'w', fileMode)
    try {
      // The mode of a file that a crash left behind is still its own.
      await next.chmod(fileMode)
      await next.writeFile([...stored.values()].join(''))
      await next.datasync()
      await rename(`${path}.new`, path)
    } catch (error) {
      await next.close()
      throw error
    }
    await handle?.close()
    handle = next
    isIntact = true
  }

  return {
    async open(onError) {
      reportError = onError
      await mkdir(dirname(path), { recursive: true })
      await lock(path)
      const leftovers = await readSignals(path).catch(async (error) => {
        await unlock(path)
        throw error
      })
      // Signals added while the file was being read come after the leftovers.
      const added = [...stored]
      stored.clear()
      for (const signal of leftovers) stored.set(signal.key, lineOf(signal))
      for (const [key, line] of added) stored.set(key, line)
      await rewrite()
      if (unwritten !== '') writing = writeAll()
      return leftovers
    },

    add(signal) {
      const line = lineOf(signal)
      stored.set(signal.key, line)
      write(line)
    },

    remove(key) {
      if (stored.delete(key)) write(`${JSON.stringify({ done: key })}\n`)
    },

    flush: () => writing,

    async close() {
      await writing
      await rewrite().catch(reportError)
      await handle?.close()
      await unlock(path)
    },
  }
}

function lineOf(signal: QueuedSignal): string {
  return `${JSON.stringify(signal)}\n`
}

/** The signals that were added and not removed. The last line may be incomplete if the process was killed. */
async function readSignals(path: string): Promise<QueuedSignal[]> {
  const text = await readFile(path, 'utf8').catch((error) => {
    if (error.code === 'ENOENT') return ''
    throw error
  })
  const signals = new Map<string, QueuedSignal>()
  for (const line of text.split('\n')) {
    const parsed = parseLine(line)
    if (parsed === null) continue
    if ('done' in parsed) signals.delete(parsed.done)
    else signals.set(parsed.key, parsed)
  }
  return [...signals.values()]
}

function parseLine(line: string): QueuedSignal | { done: string } | null {
  try {
    return JSON.parse(line)
  } catch {
    return null
  }
}

/** Prevents two processes from overwriting each other's signals in one file. */
async function lock(path: string): Promise<void> {
  const file = `${path}.lock`
  const mine = `${process.pid} ${randomUUID()}`
  if (openPaths.has(path)) throw new Error(`${path} is in use by another queue of this process`)
  openPaths.add(path)
  try {
    await writeFile(file, mine, { flag: 'wx', mode: fileMode })
    return
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw release(path, error)
  }
  const owner = Number.parseInt(await readFile(file, 'utf8'), 10)
  if (owner !== process.pid && isAlive(owner)) {
    throw release(path, new Error(`${path} is in use by process ${owner}: give each process its own spool file`))
  }
  // The lock is stale. Of several processes that take it over, the last one to write has it.
  await writeFile(file, mine)
  await setTimeout(lockSettleMs)
  if ((await readFile(file, 'utf8')) !== mine) {
    throw release(path, new Error(`${path} is in use by another process: give each process its own spool file`))
  }
}

function release(path: string, error: unknown): unknown {
  openPaths.delete(path)
  return error
}

async function unlock(path: string): Promise<void> {
  openPaths.delete(path)
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
