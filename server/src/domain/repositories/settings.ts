import { validProductionEnvironments } from '../deployments/production.ts'

/** Settings of a repository that need no contact with its server. */
export interface RepositorySettings {
  /** Globs of the environments whose deployments decide what is live. Null for the default (domain/deployments/production.ts). */
  productionEnvironments: string[] | null
  /** Whether regressions are told on pull requests and merged commits, with the token. */
  reportsOnPulls: boolean
  /** Whether a revert is proposed by itself, once people are told about a regression. */
  proposesReverts: boolean
  /** Whether an issue is opened for a change that made prompts worse, with the token, and closed when that is over. */
  opensIssues: boolean
  /** Whether open pull requests that change prompts get a comment for their reviewers, with the token. */
  briefsPulls: boolean
}

/** Undefined keeps the current value, or the initial one. */
export type SettingsUpdate = { [Name in keyof RepositorySettings]?: RepositorySettings[Name] | undefined }

interface Setting<Value> {
  /** In the API and in the database. */
  name: string
  initial: Value
  /** Throws if the value is not valid. */
  check(value: Value): Value
  column: 'integer' | 'text'
  toColumn(value: Value): string | number | null
  fromColumn(stored: unknown): Value
  /** In the audit log. */
  describe(value: Value): string
}

function flag(name: string): Setting<boolean> {
  return {
    name,
    initial: false,
    check: (value) => value,
    column: 'integer',
    toColumn: Number,
    fromColumn: (stored) => stored === 1,
    describe: (value) => (value ? 'on' : 'off'),
  }
}

function list(name: string, check: (value: string[] | null) => string[] | null): Setting<string[] | null> {
  return {
    name,
    initial: null,
    check,
    column: 'text',
    toColumn: (value) => (value === null ? null : JSON.stringify(value)),
    fromColumn: (stored) => (stored == null ? null : JSON.parse(stored as string)),
    describe: (value) => value?.join(', ') ?? 'default',
  }
}

/** Every setting. Connecting, updating, the API, the CLI, the database and archives follow this list. */
const settings: { [Name in keyof RepositorySettings]: Setting<RepositorySettings[Name]> } = {
  productionEnvironments: list('production_environments', validProductionEnvironments),
  reportsOnPulls: flag('reports_on_pulls'),
  proposesReverts: flag('proposes_reverts'),
  opensIssues: flag('opens_issues'),
  briefsPulls: flag('briefs_pulls'),
}

const entries = Object.entries(settings) as [keyof RepositorySettings, Setting<unknown>][]

export const initialSettings = bySetting<RepositorySettings>(([, { initial }]) => initial)

/** The settings after an update. */
export function updatedSettings(current: RepositorySettings, update: SettingsUpdate): RepositorySettings {
  return bySetting(([key, { check }]) => (update[key] === undefined ? current[key] : check(update[key])))
}

/** The settings in a body of the API, or in options of the CLI. */
export function settingsFrom(named: Record<string, unknown>): SettingsUpdate {
  return bySetting(([, { name }]) => named[name])
}

function bySetting<Settings>(read: (entry: (typeof entries)[number]) => unknown): Settings {
  return Object.fromEntries(entries.map((entry) => [entry[0], read(entry)])) as Settings
}

/** The settings by their names in the API. */
export function namedSettings(values: RepositorySettings): Record<string, unknown> {
  return Object.fromEntries(entries.map(([key, { name }]) => [name, values[key]]))
}

export const settingColumns = Object.fromEntries(entries.map(([, { name, column }]) => [name, column]))

/** The values in the order of the columns. */
export function storedSettings(values: RepositorySettings): (string | number | null)[] {
  return entries.map(([key, { toColumn }]) => toColumn(values[key]))
}

export function loadSettings(row: Record<string, unknown>): RepositorySettings {
  return bySetting(([, { name, fromColumn }]) => fromColumn(row[name]))
}

/** What differs, for the audit log. */
export function settingChanges(old: RepositorySettings, current: RepositorySettings): Record<string, string> {
  return Object.fromEntries(
    entries.flatMap(([key, { name, toColumn, describe }]) =>
      toColumn(old[key]) === toColumn(current[key]) ? [] : [[name, describe(current[key])]],
    ),
  )
}

export function isSetting(key: string): key is keyof RepositorySettings {
  return key in settings
}
