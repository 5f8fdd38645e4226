import { dirname } from 'node:path'

export const logLevels = ['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'] as const

export interface Config {
  databaseUrl: string
  databasePoolSize: number
  /** Where files beside the database are kept. */
  dataDir: string
  host: string
  port: number
  /** Where metrics are served; null for nowhere. */
  metricsPort: number | null
  metricsHost: string
  logLevel: (typeof logLevels)[number]
  firstRun: boolean
  /** Where others reach the service, without a slash at the end; null for where it listens. */
  publicUrl: string | null
  /** What secrets are stored with: 32 bytes. Null where none is given. */
  secretKey: Buffer | null
  allowLocalRepositories: boolean
  allowRepositoryRedirects: boolean
  /** Megabytes. */
  repositorySizeLimit: number
  /** Days that signals are kept, null for ever. */
  signalRetentionDays: number | null
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
    metricsPort: read('METRICS_PORT', '', parseMetricsPort, 'a number from 0 to 65535'),
    metricsHost: env.METRICS_HOST || '127.0.0.1',
    logLevel: read('LOG_LEVEL', 'info', oneOf(logLevels), `one of ${logLevels.join(', ')}`),
    firstRun: read('PROMPTLEDGER_FIRST_RUN', 'on', oneOf(['on', 'off']), 'on or off') === 'on',
    publicUrl: read('PUBLIC_URL', '', parsePublicUrl, 'an http or https address'),
    secretKey: read('PROMPTLEDGER_SECRET_KEY', '', parseSecretKey, '32 bytes as 64 hexadecimal digits or in base64'),
    allowLocalRepositories: read('ALLOW_LOCAL_REPOSITORIES', '0', oneOf(['0', '1']), '0 or 1') === '1',
    allowRepositoryRedirects: read('ALLOW_REPOSITORY_REDIRECTS', '0', oneOf(['0', '1']), '0 or 1') === '1',
    repositorySizeLimit: read('REPOSITORY_SIZE_LIMIT', '2048', integer(1, 999_999_999), 'a number of megabytes'),
    signalRetentionDays: read('SIGNAL_RETENTION_DAYS', '', parseDays, 'a number of days, 1 or more'),
  }
  if (problems.length > 0) throw new Error(`Wrong settings: ${problems.join('; ')}`)
  return Object.freeze(config)
}

const sqlite = 'sqlite:'

export const parsePort = integer(0, 65_535)

function parseMetricsPort(text: string): number | null | undefined {
  return text === '' ? null : parsePort(text)
}

function parseDatabaseUrl(text: string): string | undefined {
  if (text.startsWith(sqlite)) return text.length > sqlite.length ? text : undefined
  return /^postgres(ql)?:\/\//.test(text) && URL.canParse(text) ? text : undefined
}

function dataDirOf(databaseUrl: string): string {
  return databaseUrl.startsWith(sqlite) ? dirname(databaseUrl.slice(sqlite.length)) : 'data'
}

function parsePublicUrl(text: string): string | null | undefined {
  if (text === '') return null
  const url = URL.parse(text)
  return url !== null && /^https?:$/.test(url.protocol) ? text.replace(/\/+$/, '') : undefined
}

function parseDays(text: string): number | null | undefined {
  return text === '' ? null : integer(1, 99_999)(text)
}

export function parseSecretKey(text: string): Buffer | null | undefined {
  if (text === '') return null
  const key = Buffer.from(text, /^[0-9a-f]{64}$/i.test(text) ? 'hex' : 'base64')
  return key.length === 32 ? key : undefined
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
