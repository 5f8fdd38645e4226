import { validProductionEnvironments } from '../deployments/production.ts'

/** What is set about a repository without contacting its server. */
export interface RepositorySettings {
  /** Globs of the environments whose deployments decide what is live. Null for the default (domain/deployments/production.ts). */
  productionEnvironments: string[] | null
  /** Whether regressions are told on pull requests and merged commits, with the token. */
  reportsOnPulls: boolean
}

/** Undefined keeps the current value, or the initial one. */
export type SettingsUpdate = { [Name in keyof RepositorySettings]?: RepositorySettings[Name] | undefined }

interface Setting<Value> {
  /** In the API and in the database. */
  name: string
  initial: Value
  /** Throws if the value is not valid. */
  check(value: Value): Value
}

/** Every setting. Connecting, updating, the API and the CLI follow this list. */
const settings: { [Name in keyof RepositorySettings]: Setting<RepositorySettings[Name]> } = {
  productionEnvironments: { name: 'production_environments', initial: null, check: validProductionEnvironments },
  reportsOnPulls: { name: 'reports_on_pulls', initial: false, check: (value) => value },
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

export function isSetting(key: string): key is keyof RepositorySettings {
  return key in settings
}
