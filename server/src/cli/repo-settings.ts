import { type Command, Option } from 'commander'
import type { Schema } from '../../../contract/operation.ts'
import { settingFields } from '../../../contract/repositories.ts'
import { type SettingsUpdate, settingsFrom } from '../domain/repositories/settings.ts'

const fields = Object.entries<Schema>(settingFields)

/** Adds one option per setting of a repository, as the API names and describes them. */
export function addSettingOptions(command: Command): Command {
  for (const [name, { type, description = '' }] of fields) {
    const isList = [type].flat().includes('array')
    const value = isList ? '<values...>' : type === 'boolean' ? '<on|off>' : '<text>'
    const special = isList ? '. `default` alone stands for the default, `none` for no values' : ''
    const option = new Option(`--${name.replaceAll('_', '-')} ${value}`, `${description}${special}`)
    command.addOption(type === 'boolean' ? option.choices(['on', 'off']) : option)
  }
  return command
}

/**
 * Takes back the argument of the command if it is the last value of a list: an option with several values takes all words after it,
 * as in `--production-environments prod 7`.
 */
export function takeLast<T>(command: Command, parse: (text: string) => T): T | undefined {
  for (const [name, values] of Object.entries(command.opts<Record<string, unknown>>())) {
    if (!Array.isArray(values) || values.length < 2) continue
    try {
      const taken = parse(values.at(-1))
      command.setOptionValue(name, values.slice(0, -1))
      return taken
    } catch {}
  }
  return undefined
}

/** The settings that the options give. */
export function settingsOf(command: Command): SettingsUpdate {
  const given = command.opts<Record<string, string | string[] | undefined>>()
  return settingsFrom(
    Object.fromEntries(
      fields.map(([name, schema]) => {
        const text = given[name.replaceAll(/_(\w)/g, (_, letter: string) => letter.toUpperCase())]
        return [name, text === undefined ? undefined : parse(schema, text)]
      }),
    ),
  )
}

function parse({ type }: Schema, text: string | string[]): unknown {
  if (type === 'boolean') return text === 'on'
  if (!Array.isArray(text) || text.length > 1) return text
  return text[0] === 'default' ? null : text[0] === 'none' ? [] : text
}
