import { dirname } from 'node:path'

export const logLevels = ['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'] as const

export interface Config {
  databaseUrl: string
  databasePoolSize: number
  /** Where files beside the database are kept. */
  dataDir: string
  host: string
  port: number
  logLevel: (typeof logLevels)[number]
  firstRun: boolean
}

/** Reads the settings from the environment. Every problem is reported, each with its variable's name. */
export function readConfig(env: NodeJS.ProcessEnv): Config {
  const problems: string[] = []

  // An empty variable counts as absent: compose files and shells make them easily.
  function read<T>(name: string, fallback: string, parse: (text: string) => T | undefined, expected: string): T {
    const text = env[name] || fallback
    const value = parse(text)
    // The value is not repeated: a database's address holds a password.
    if (value === undefined) problems.push(`${name} must be ${expected}`)
    return value as T
  }

  const databaseUrl = read(
    'DATABASE_URL',
    'sqlite:data/promptledger.db',
    parseDatabaseUrl,
    'sqlite:<path> or postgres://<user>:<password>@<host>/<database>',
  )
  const config: Config = {
    databaseUrl,
    databasePoolSize: read('DATABASE_POOL_SIZE', '10', integer(2, 1_000), 'a number from 2 to 1000'),
    dataDir: env.DATA_DIR || dataDirOf(databaseUrl ?? ''),
    host: env.HOST || '127.0.0.1',
    port: read('PORT', '3000', parsePort, 'a number from 0 to 65535'),
    logLevel: read('LOG_LEVEL', 'info', oneOf(logLevels), `one of ${logLevels.join(', ')}`),
    firstRun: read('PROMPTLEDGER_FIRST_RUN', 'on', oneOf(['on', 'off']), 'on or off') === 'on',
  }
  if (problems.length > 0) throw new Error(`Wrong settings: ${problems.join('; ')}`)
  return Object.freeze(config)
}

const sqlite = 'sqlite:'

export const parsePort = integer(0, 65_535)

function parseDatabaseUrl(text: string): string | undefined {
  if (text.startsWith(sqlite)) return text.length > sqlite.length ? text : undefined
  return /^postgres(ql)?:\/\//.test(text) && URL.canParse(text) ? text : undefined
}

function dataDirOf(databaseUrl: string): string {
  return databaseUrl.startsWith(sqlite) ? dirname(databaseUrl.slice(sqlite.length)) : 'data'
}

function integer(least: number, most: number): (text: string) => number | undefined {
  return (text) => {
    const number = /^\d{1,9}$/.test(text) ? Number(text) : Number.NaN
    return number >= least && number <= most ? number : undefined
  }
}

function oneOf<const T extends string>(allowed: readonly T[]): (text: string) => T | undefined {
  return (text) => allowed.find((value) => value === text)
}
