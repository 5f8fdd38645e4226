import { numberFormat, wholeNumber } from './locale.ts'

const fractional = numberFormat({})
const compact = numberFormat({ notation: 'compact', maximumFractionDigits: 1 })

/** A number with its thousands separated: 10,000. */
export function formatNumber(value: number): string {
  return Number.isSafeInteger(value) ? wholeNumber(value) : fractional.format(value)
}

/** A number for narrow places: 1.2K. */
export function formatCompact(value: number): string {
  return compact.format(value)
}

/** A number with its noun: 1 signal, 10,000 signals. */
export function countOf(value: number, singular: string, plural = `${singular}s`): string {
  return `${formatNumber(value)} ${value === 1 ? singular : plural}`
}
