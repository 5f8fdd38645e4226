import { InvalidArgumentError, Option } from 'commander'
import { parsePort } from '../config.ts'
import { InvalidFieldError } from '../domain/errors.ts'

export function integerArgument(text: string): number {
  if (!/^[1-9]\d{0,14}$/.test(text)) throw new InvalidArgumentError('Must be a positive integer.')
  return Number(text)
}

export function portArgument(text: string): number {
  const port = parsePort(text)
  if (port === undefined) throw new InvalidArgumentError('Must be a number from 0 to 65535.')
  return port
}

const unitsMs = { m: 60_000, h: 3_600_000, d: 86_400_000 }

/** Parses a duration such as 30m, 24h or 90d into milliseconds. */
export function durationArgument(text: string): number {
  const [, count, unit] = /^(\d{1,5})([mhd])$/.exec(text) ?? []
  if (count === undefined) throw new InvalidArgumentError('Must be a number and a unit, such as 30m, 24h or 90d.')
  return Number(count) * unitsMs[unit as keyof typeof unitsMs]
}

/** A duration greater than zero. */
export function lifetimeArgument(text: string): number {
  const lifetimeMs = durationArgument(text)
  if (lifetimeMs === 0) throw new InvalidArgumentError('Must be greater than zero.')
  return lifetimeMs
}

/** `--overlap`, in milliseconds. The help shows the default as 24h. */
export function overlapOption(description: string): Option {
  return new Option('--overlap <duration>', description).argParser(durationArgument).default(unitsMs.d, '24h')
}

/** Parses a day, which starts at midnight UTC, or a time with a time zone. */
export function timeArgument(text: string): string {
  const isDay = /^\d{4}-\d{2}-\d{2}$/.test(text)
  const at = isDay || /T.*(?:Z|[+-]\d{2}:?\d{2})$/i.test(text) ? Date.parse(text) : Number.NaN
  if (Number.isNaN(at))
    throw new InvalidArgumentError('Must be a day or a time, such as 2026-11-15 or 2026-11-15T09:30:00Z.')
  return new Date(at).toISOString()
}

/** The options of a command by the field of the domain that they set. */
export type OptionNames = Record<string, string>

/** For `catch`: throws the error with the name of the option that an invalid field comes from. */
export function namingOptions(options: OptionNames): (error: Error) => never {
  return (error) => {
    const option = error instanceof InvalidFieldError ? options[error.field] : undefined
    throw option === undefined ? error : new Error(`${option} ${(error as InvalidFieldError).problem}`)
  }
}
