import pino, { type Logger } from 'pino'

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
    pino.destination(2),
  )
}

/** Keeps only fields that cannot contain user data: PostgreSQL quotes rows in an error's `detail`. */
function serializeError(error: unknown): object {
  if (!(error instanceof Error)) return { message: 'a value that is not an Error was thrown' }
  const { name, message, stack } = error
  // One line without control characters, which tenants do not get to see: a git server may have written it.
  const gitOutput = 'gitOutput' in error ? error.gitOutput : undefined
  return { name, message, stack, code: 'code' in error ? error.code : undefined, gitOutput }
}
