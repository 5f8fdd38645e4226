import { InvalidArgumentError } from 'commander'

export function integerArgument(text: string): number {
  if (!/^[1-9]\d{0,14}$/.test(text)) throw new InvalidArgumentError('It must be a positive whole number.')
  return Number(text)
}

const units = { m: 60_000, h: 3_600_000, d: 86_400_000 }

/** A length of time that is not nothing. */
export function lifetimeArgument(text: string): number {
  const lifetime = durationArgument(text)
  if (lifetime === 0) throw new InvalidArgumentError('It must be longer than nothing.')
  return lifetime
}

/** A length of time such as 30m, 24h or 90d, in milliseconds. */
export function durationArgument(text: string): number {
  const [, count, unit] = /^(\d{1,5})([mhd])$/.exec(text) ?? []
  if (count === undefined) throw new InvalidArgumentError('It must be a number and a unit: 30m, 24h or 90d.')
  return Number(count) * units[unit as keyof typeof units]
}
