import { readFileSync } from 'node:fs'
import { isIP } from 'node:net'
import { dirname } from 'node:path'
import { closestName } from './typo.ts'

const logLevels = ['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'] as const

export interface Config {
  databaseUrl: string
  databasePoolSize: number
  /** Folder for files other than the database: the secret key and repository mirrors. */
  dataDir: string
  host: string
  port: number
  /** Null if metrics are not served. */
  metricsPort: number | null
  metricsHost: string
  logLevel: (typeof logLevels)[number]
  firstRun: boolean
  /** URL at which people and forges reach the service, without a trailing slash. Null for the address it listens on. */
  publicUrl: string | null
  /** 32 bytes that encrypt stored secrets. Null if not set. */
  secretKey: Buffer | null
  /** Keys that only decrypt, until `secret-key rotate` has replaced them. */
  oldSecretKeys: Buffer[]
  allowLocalRepositories: boolean
  allowRepositoryRedirects: boolean
  allowHttpRepositories: boolean
  allowPrivateRepositoryAddresses: boolean
  allowMachineSshKeys: boolean
  /** How email alerts are sent. Null if they cannot be. */
  mail: { url: string; from: { name: string; address: string } } | null
  /** How people sign in. A mistake here must not keep the service from starting: keys still work. */
  signIn: {
    /** Null if people sign in by email, or not at all. */
    provider: { kind: 'oidc' | 'github'; issuer: string; clientId: string; clientSecret: string } | null
    /** Whether people may sign in by email where there is a mail server: a provider, also one that is not set up right, replaces it. */
    allowsEmail: boolean
    /** Only addresses of these domains may sign in. Empty for all. */
    domains: string[]
    /** The role of people who sign in without an invitation. Null if they need one. */
    defaultRole: (typeof personRoles)[number] | null
    /** The claim with a person's groups, and the role of each group. */
    groups: { claim: string; roles: Record<string, (typeof personRoles)[number]> } | null
    problems: { setting: string; message: string }[]
  }
  /** Whether alerts may go to private addresses, and over plain http. */
  allowPrivateAlertTargets: boolean
  repositorySizeLimitMb: number
  /** Memory of one git command with its child processes. */
  gitMemoryLimitMb: number
  /** Syncs that run at the same time. One organisation gets at most half of them. */
  syncConcurrency: number
  repositoriesPerOrganisation: number
  /** Deliveries per organisation that wait to be processed. */
  inboxLimitMb: number
  /** Signals per month on each plan. Null for any number. */
  planLimits: Readonly<Record<(typeof plans)[number], number | null>>
  /** Null to keep signals forever. */
  signalRetentionDays: number | null
  telemetryDays: number
  /** Addresses and networks of the proxies in front of the service. */
  trustedProxies: string[]
  requestLimits: {
    /** Percent of a process's capacity that one organisation, and one key, may use. */
    organisationShare: number
    keyShare: number
    /** Requests of one organisation at work at the same time. */
    organisationConcurrency: number
  }
  /** The settings that have been replaced, each with what replaces it. */
  replaced: string[]
  /** Variables that are no settings, but have names like one, each with the right name. */
  mistyped: string[]
}

/** Reads the settings from environment variables. The error lists every invalid one. */
export function readConfig(env: NodeJS.ProcessEnv = process.env): Config {
  const problems: string[] = []
  const replaced: string[] = []
  const known: string[] = []

  function read<T>(name: string, fallback: string, parse: (text: string) => T | undefined, expected: string): T {
    const text = textOf(name, problems) || fallback
    const value = parse(text)
    if (value === undefined) problems.push(describeWrong(name, expected, text))
    return value as T
  }

  /** An empty variable counts as unset, because compose files and shells easily produce one. */
  function textOf(name: string, problems: string[]): string {
    known.push(name)
    const secret = secretSettings.includes(name) ? readSecretFile(`${name}_FILE`, problems) : null
    // Unset, it would be a new database, into which signals go unnoticed.
    if (secret === null && name === 'DATABASE_URL' && env[name] === '') {
      problems.push(`${name} is empty. Set it, or remove it to use ${defaultDatabaseUrl}`)
    }
    return secret ?? env[name] ?? ''
  }

  /** Null without such a variable. Where it names no secret, falling back to the default would start a new installation. */
  function readSecretFile(variable: string, problems: string[]): string | null {
    known.push(variable)
    const file = env[variable]
    if (file === undefined) return null
    try {
      const text = file === '' ? '' : readFileSync(file, 'utf8').trim()
      if (file === '') problems.push(`${variable} is empty. Set it to the path of a file, or remove it`)
      else if (text === '')
        problems.push(`${variable} names an empty file. Write the secret to it, or remove the variable`)
      return text
    } catch (error) {
      // Without the path: it may be the secret itself.
      problems.push(`${variable} names a file that cannot be read (${(error as NodeJS.ErrnoException).code})`)
      return ''
    }
  }

  /** A setting that still works, but is documented no longer. */
  function readOld<T>(name: string, fallback: string, parse: (text: string) => T | undefined, expected: string): T {
    if (env[name]) replaced.push(`${name} still works, but ${replacements[name]}`)
    return read(name, fallback, parse, expected)
  }

  function allows(permission: (typeof permissions)[number]): boolean {
    const old = `ALLOW_${permission.replaceAll('-', '_').toUpperCase()}`
    const isSwitchedOn = read(old, '0', oneOf(['0', '1']), '0 or 1') === '1'
    if (env[old]) replaced.push(`${old} still works, but is replaced by ALLOW=${permission}`)
    return isSwitchedOn || allowed.includes(permission)
  }

  function readMail(): Config['mail'] {
    const url = read('SMTP_URL', '', optional(parseSmtpUrl), 'smtp://<user>:<password>@<host> or smtps://…')
    const from = read(
      'ALERT_FROM',
      '',
      optional(parseSender),
      'an address, or a name and an address: Alerts <alerts@example.com>',
    )
    if (url === null) return null
    if (from === null) problems.push('ALERT_FROM must be set if SMTP_URL is')
    return from && { url, from }
  }

  function readSignIn(): Config['signIn'] {
    const issues: Config['signIn']['problems'] = []
    function readOr<T>(setting: string, parse: (text: string) => T | undefined, expected: string): T | null {
      const unreadable: string[] = []
      const text = textOf(setting, unreadable)
      const value = text === '' ? null : parse(text)
      if (value === undefined) unreadable.push(describeWrong(setting, expected, text))
      issues.push(...unreadable.map((message) => ({ setting, message })))
      return value ?? null
    }
    const server = readOr(
      'SIGN_IN_ISSUER',
      parseIssuer,
      'the https:// URL of an OpenID Connect issuer, or https://github.com',
    )
    const clientId = readOr('SIGN_IN_CLIENT_ID', (text) => text, 'a client ID')
    const clientSecret = readOr('SIGN_IN_CLIENT_SECRET', (text) => text, 'a client secret')
    const domains = readOr('SIGN_IN_DOMAINS', parseDomains, 'domains such as example.com, separated by commas') ?? []
    const defaultRole = readOr('SIGN_IN_ROLE', oneOf(personRoles), `one of ${personRoles.join(', ')}`)
    const groups = readOr('SIGN_IN_GROUPS', parseGroups, 'a list such as groups: engineering=member, leads=admin')
    const isWanted = Boolean(env.SIGN_IN_ISSUER)
    for (const [setting, value] of Object.entries({
      SIGN_IN_CLIENT_ID: clientId,
      SIGN_IN_CLIENT_SECRET: clientSecret,
    })) {
      if (isWanted && value === null) issues.push({ setting, message: `${setting} must be set if SIGN_IN_ISSUER is` })
    }
    const isOpenToAll = isWanted ? server !== null && isPublicIssuer(server.issuer) : true
    if (defaultRole !== null && domains.length === 0 && isOpenToAll) {
      const message = 'SIGN_IN_DOMAINS must be set if SIGN_IN_ROLE is: otherwise everyone in the world could join'
      issues.push({ setting: 'SIGN_IN_DOMAINS', message })
    }
    // Nothing is guessed where one of them is wrong: the wrong people could join.
    const isUsable = issues.length === 0 && server !== null && clientId !== null && clientSecret !== null
    return {
      provider: isUsable ? { ...server, clientId, clientSecret } : null,
      allowsEmail: !isWanted && issues.length === 0,
      domains,
      defaultRole,
      groups,
      problems: issues,
    }
  }

  const databaseUrl = read(
    'DATABASE_URL',
    defaultDatabaseUrl,
    parseDatabaseUrl,
    'sqlite:<path> or postgres://<user>:<password>@<host>/<database>',
  )
  const metrics = read(
    'METRICS_PORT',
    '',
    optional(parseListenAddress),
    'a number from 0 to 65535, or <address>:<number>, with an IPv6 address in brackets',
  )
  // Read also where METRICS_PORT has an address, which wins, so that the old name is reported.
  const metricsHost = readOld('METRICS_HOST', '127.0.0.1', (host) => host, 'an address')
  const allowed = read('ALLOW', '', listOf(permissions), `a list of ${permissions.join(', ')}`) ?? []
  const organisationShare = read('ORGANISATION_SHARE', '75', integer(1, 100), 'a percentage from 1 to 100')
  const config: Config = {
    databaseUrl,
    databasePoolSize: read('DATABASE_POOL_SIZE', '10', integer(2, 1_000), 'a number from 2 to 1000'),
    dataDir: read('DATA_DIR', dataDirOf(databaseUrl ?? ''), (folder) => folder, 'a folder'),
    host: read('HOST', '127.0.0.1', (host) => host, 'an address'),
    port: read('PORT', '3000', parsePort, 'a number from 0 to 65535'),
    metricsPort: metrics?.port ?? null,
    metricsHost: metrics?.host ?? metricsHost,
    logLevel: read('LOG_LEVEL', 'info', oneOf(logLevels), `one of ${logLevels.join(', ')}`),
    firstRun: read('PROMPTLEDGER_FIRST_RUN', 'on', oneOf(['on', 'off']), 'on or off') === 'on',
    publicUrl: read(
      'PUBLIC_URL',
      '',
      optional(parsePublicUrl),
      'http://<host> or https://<host>, without a path: the console is at the root of its host',
    ),
    secretKey: read(
      'PROMPTLEDGER_SECRET_KEY',
      '',
      optional(parseSecretKey),
      '32 bytes as 64 hexadecimal digits or base64',
    ),
    oldSecretKeys: read(
      'PROMPTLEDGER_OLD_SECRET_KEYS',
      '',
      parseSecretKeys,
      'keys of 32 bytes as 64 hexadecimal digits or base64, separated by commas',
    ),
    allowLocalRepositories: allows('local-repositories'),
    allowRepositoryRedirects: allows('repository-redirects'),
    allowHttpRepositories: allows('http-repositories'),
    allowPrivateRepositoryAddresses: allows('private-repository-addresses'),
    allowMachineSshKeys: allows('machine-ssh-keys'),
    allowPrivateAlertTargets: allows('private-alert-targets'),
    mail: readMail(),
    signIn: readSignIn(),
    repositorySizeLimitMb: read(
      'REPOSITORY_SIZE_LIMIT',
      '2048',
      integer(1, 999_999_999),
      'a number of megabytes, at least 1',
    ),
    gitMemoryLimitMb: read('GIT_MEMORY_LIMIT', '96', integer(32, 100_000), 'a number of megabytes from 32 to 100000'),
    syncConcurrency: read('SYNC_CONCURRENCY', '4', integer(1, 100), 'a number from 1 to 100'),
    repositoriesPerOrganisation: read(
      'REPOSITORIES_PER_ORGANISATION',
      '100',
      integer(1, 1_000_000),
      'a number from 1 to 1000000',
    ),
    inboxLimitMb: readOld('INBOX_LIMIT', '100', integer(32, 100_000), 'a number of megabytes from 32 to 100000'),
    planLimits: read(
      'PLAN_LIMITS',
      defaultPlanLimits,
      parsePlanLimits,
      `a list such as ${defaultPlanLimits}, with a number from 1 to 999999999 or "unlimited" for each plan`,
    ),
    signalRetentionDays: read(
      'SIGNAL_RETENTION_DAYS',
      '',
      optional(integer(1, 99_999)),
      'a number of days from 1 to 99999',
    ),
    telemetryDays: read('TELEMETRY_DAYS', '14', integer(1, 30), 'a number of days from 1 to 30'),
    trustedProxies: read(
      'TRUSTED_PROXIES',
      '',
      parseAddresses,
      'addresses or networks, such as 127.0.0.1 or 10.0.0.0/8, separated by commas',
    ),
    requestLimits: {
      organisationShare,
      keyShare: readOld(
        'KEY_SHARE',
        keyShareOf(organisationShare ?? 100),
        integer(1, 100),
        'a percentage from 1 to 100',
      ),
      organisationConcurrency: readOld(
        'ORGANISATION_CONCURRENCY',
        '32',
        integer(1, 2_000),
        'a number of requests from 1 to 2000',
      ),
    },
    replaced,
    // Last, once all names are known.
    mistyped: mistypedIn(env, known),
  }
  if (problems.length > 0) throw new Error(`Invalid settings: ${problems.join('; ')}`)
  return Object.freeze(config)
}

const sqlite = 'sqlite:'
const defaultDatabaseUrl = 'sqlite:data/promptledger.db'
/** Can also be in the file that `<name>_FILE` names, which wins: containers get secrets as files. */
export const secretSettings = [
  'DATABASE_URL',
  'PROMPTLEDGER_SECRET_KEY',
  'PROMPTLEDGER_OLD_SECRET_KEYS',
  'SMTP_URL',
  'SIGN_IN_CLIENT_SECRET',
]
const personRoles = ['viewer', 'member', 'admin'] as const
const plans = ['free', 'team', 'business'] as const
/** Only safe where the admins of all organisations are trusted, or in a closed network. */
const permissions = [
  'local-repositories',
  'repository-redirects',
  'http-repositories',
  'private-repository-addresses',
  'machine-ssh-keys',
  'private-alert-targets',
] as const
const replacements: Record<string, string> = {
  METRICS_HOST: 'is replaced by METRICS_PORT=<address>:<port>',
  KEY_SHARE: 'follows from ORGANISATION_SHARE',
  ORGANISATION_CONCURRENCY: 'no longer needs to be set',
  INBOX_LIMIT: 'no longer needs to be set',
}
const maxShownCharacters = 80
const defaultPlanLimits = 'free=1000,team=10000,business=100000'

/** Leaves out what may contain a password. A value that is only wrong by a blank is shown in quotes. */
function describeWrong(name: string, expected: string, text: string): string {
  const isSecret = secretSettings.includes(name) || text.includes('@')
  return `${name} must be ${expected}${isSecret ? '' : ` (it is ${quoted(text)})`}`
}

/** On one line, whatever it contains. */
function quoted(text: string): string {
  const shown = text.length > maxShownCharacters ? `${text.slice(0, maxShownCharacters)}…` : text
  return `'${shown.replaceAll(/[\p{C}\p{Zl}\p{Zp}]/gu, (character) => `\\u{${character.codePointAt(0)?.toString(16)}}`)}'`
}

/** Variables like `DATABSE_URL` or `PROMPTLEDGER_PORT`. Kubernetes sets the second for a service called promptledger, to `tcp://…`. */
function mistypedIn(env: NodeJS.ProcessEnv, known: string[]): string[] {
  return Object.entries(env).flatMap(([variable, value]) => {
    if (!value || known.includes(variable) || /^(tcp|udp):/.test(value)) return []
    const unprefixed = variable.replace(/^PROMPTLEDGER_/, '')
    const meant = known.includes(unprefixed)
      ? unprefixed
      : (closestName(variable, known) ?? closestName(unprefixed, known))
    return meant === null ? [] : [`${quoted(variable)} is no setting: did you mean ${meant}?`]
  })
}

export const parsePort = integer(0, 65_535)

/** A port of this machine, or an address and a port. */
function parseListenAddress(text: string): { host: string | null; port: number } | undefined {
  const [, host = null, digits = ''] = /^(?:(\[[^\]]+\]|[^:]+):)?(\d+)$/.exec(text) ?? []
  const port = parsePort(digits)
  return port === undefined ? undefined : { host: host?.replace(/^\[(.*)\]$/, '$1') ?? null, port }
}

/** A key of several may use two thirds of what its organisation may. Where one organisation may use everything, so may its key. */
function keyShareOf(organisationShare: number): string {
  return String(organisationShare === 100 ? 100 : Math.ceil((organisationShare * 2) / 3))
}

function parseDatabaseUrl(text: string): string | undefined {
  if (text.startsWith(sqlite)) return text.length > sqlite.length ? text : undefined
  return /^postgres(ql)?:\/\//.test(text) && URL.canParse(text) ? text : undefined
}

function dataDirOf(databaseUrl: string): string {
  return databaseUrl.startsWith(sqlite) ? dirname(databaseUrl.slice(sqlite.length)) : 'data'
}

function parsePublicUrl(text: string): string | undefined {
  const url = URL.parse(text)
  return url !== null && /^https?:$/.test(url.protocol) && `${url.origin}/` === url.href ? url.origin : undefined
}

function parseSmtpUrl(text: string): string | undefined {
  const url = URL.parse(text)
  return url !== null && /^smtps?:$/.test(url.protocol) && url.hostname !== '' ? text : undefined
}

/** `github+https://<host>` is a GitHub Enterprise Server. Plain http only on this machine: everyone on the way could sign in. */
function parseIssuer(text: string): { kind: 'oidc' | 'github'; issuer: string } | undefined {
  const [, isServer, address = ''] = /^(github\+)?(.*)$/.exec(text) ?? []
  const url = URL.parse(address)
  const isLocal = url?.protocol === 'http:' && ['127.0.0.1', '[::1]', 'localhost'].includes(url.hostname)
  if (url === null || !(url.protocol === 'https:' || isLocal) || url.search !== '' || url.hash !== '') return undefined
  const isGithub = isServer !== undefined || url.hostname === 'github.com'
  return { kind: isGithub ? 'github' : 'oidc', issuer: isGithub ? url.origin : address }
}

/** Whether everyone can have an account there. */
function isPublicIssuer(issuer: string): boolean {
  const { hostname, pathname } = new URL(issuer)
  if (hostname === 'login.microsoftonline.com') return /^\/(common|organizations|consumers)\//.test(pathname)
  return ['accounts.google.com', 'github.com', 'gitlab.com', 'appleid.apple.com'].includes(hostname)
}

function parseDomains(text: string): string[] | undefined {
  const domains = wordsOf(text.toLowerCase())
  return domains.every((domain) => /^[a-z0-9-]+(\.[a-z0-9-]+)+$/.test(domain)) ? domains : undefined
}

/** The claim is `groups`, unless the list starts with another one and a colon. */
function parseGroups(text: string): Config['signIn']['groups'] | undefined {
  const [, claim = 'groups', list = ''] = /^(?:([\w:/.-]+):\s)?(.*)$/s.exec(text.trim()) ?? []
  const roles: Record<string, (typeof personRoles)[number]> = {}
  for (const part of list.split(',')) {
    const at = part.lastIndexOf('=')
    const group = part.slice(0, Math.max(at, 0)).trim()
    const role = oneOf(personRoles)(part.slice(at + 1).trim())
    if (group === '' || role === undefined) return undefined
    roles[group] = role
  }
  return { claim, roles }
}

function parseSender(text: string): NonNullable<Config['mail']>['from'] | undefined {
  const [, name = '', bracketed] = /^([^<>"\p{Cc}]*)<([^<>]+)>$/u.exec(text.trim()) ?? []
  const address = bracketed ?? text.trim()
  if (!/^[\w.+-]+@[\w-]+(?:\.[\w-]+)*$/.test(address)) return undefined
  return { name: name.trim() || 'Promptledger', address }
}

function parseSecretKey(text: string): Buffer | undefined {
  // Digits that were cut off must not pass as base64: 43 of them would be another key.
  const key = Buffer.from(text, /^[0-9a-f]+$/i.test(text) ? 'hex' : 'base64')
  return key.length === 32 ? key : undefined
}

/** Parses keys separated by commas or line breaks. */
export function parseSecretKeys(text: string): Buffer[] | undefined {
  const keys = wordsOf(text).map(parseSecretKey)
  return keys.every((key) => key !== undefined) ? keys : undefined
}

/** A plan that is not in the list has its default. */
function parsePlanLimits(text: string): Config['planLimits'] | undefined {
  const limits = new Map<string, number | null>()
  for (const part of text.split(',')) {
    const [plan = '', value = '', ...rest] = part.split('=').map((word) => word.trim())
    const limit = value === 'unlimited' ? null : integer(1, 999_999_999)(value)
    if (!plans.some((known) => known === plan) || limits.has(plan) || limit === undefined || rest.length > 0)
      return undefined
    limits.set(plan, limit)
  }
  const { free = 1_000, team = 10_000, business = 100_000 } = Object.fromEntries(limits)
  return { free, team, business }
}

/** Parses addresses and networks separated by commas. */
function parseAddresses(text: string): string[] | undefined {
  const parts = wordsOf(text)
  return parts.every(isAddressOrNetwork) ? parts : undefined
}

function wordsOf(text: string): string[] {
  return text.split(/[\s,]+/).filter(Boolean)
}

function listOf<const T extends string>(allowed: readonly T[]): (text: string) => T[] | undefined {
  return (text) => {
    const parts = wordsOf(text)
    return parts.every((part) => oneOf(allowed)(part) !== undefined) ? (parts as T[]) : undefined
  }
}

function isAddressOrNetwork(text: string): boolean {
  const [address = '', prefix, ...rest] = text.split('/')
  const family = isIP(address)
  if (family === 0 || rest.length > 0) return false
  return prefix === undefined || integer(0, family === 4 ? 32 : 128)(prefix) !== undefined
}

/** Null for an unset variable. */
function optional<T>(parse: (text: string) => T | undefined): (text: string) => T | null | undefined {
  return (text) => (text === '' ? null : parse(text))
}

function integer(min: number, max: number): (text: string) => number | undefined {
  return (text) => {
    const number = /^\d{1,9}$/.test(text) ? Number(text) : Number.NaN
    return number >= min && number <= max ? number : undefined
  }
}

function oneOf<const T extends string>(allowed: readonly T[]): (text: string) => T | undefined {
  return (text) => allowed.find((value) => value === text)
}
