import { writeSync } from 'node:fs'
import pino, { type Logger } from 'pino'

const retryMs = 10

/** Logs JSON lines to standard error. */
export function createLogger(level: string): Logger {
  return pino(
    {
      level,
      base: null,
      timestamp: pino.stdTimeFunctions.isoTime,
      formatters: { level: (label) => ({ level: label }) },
      serializers: { err: serializeError },
    },
    { write },
  )
}

/**
 * Drops a line that cannot be written, because the disk is full or the terminal is gone. Pino's own destination throws then, out of
 * whatever wanted to log, and waits forever when it logs a fatal error.
 */
function write(line: string): void {
  let rest = Buffer.from(line)
  while (rest.length > 0) {
    try {
      rest = rest.subarray(writeSync(2, rest))
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EAGAIN') return
      // The reader of a pipe is slow.
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, retryMs)
    }
  }
}

/** Keeps only fields that cannot contain user data: PostgreSQL quotes rows in an error's `detail`. */
function serializeError(error: unknown): object {
  if (!(error instanceof Error)) return { message: 'a value that is not an Error was thrown' }
  const { name, message, stack } = error
  // One line without control characters, which tenants do not get to see: a git server may have written it.
  const gitOutput = 'gitOutput' in error ? error.gitOutput : undefined
  return { name, message, stack, code: 'code' in error ? error.code : undefined, gitOutput }
}
