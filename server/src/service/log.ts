import pino, { type Logger } from 'pino'

/** Logs in JSON, on standard error. Of an error only what cannot hold anybody's data: the database quotes rows in its details. */
export function newLog(level: string): Logger {
  return pino(
    {
      level,
      base: null,
      timestamp: pino.stdTimeFunctions.isoTime,
      formatters: { level: (label) => ({ level: label }) },
      serializers: { err: describe },
    },
    pino.destination(2),
  )
}

function describe(error: unknown): object {
  if (!(error instanceof Error)) return { message: 'something that is not an error was thrown' }
  const { name, message, stack } = error
  return { name, message, stack, code: 'code' in error ? error.code : undefined }
}
