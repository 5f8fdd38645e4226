export function median(numbers: number[]): number {
  return quantile(numbers, 0.5)
}

/** The number that this share of the others is smaller than. */
export function quantile(numbers: number[], share: number): number {
  const sorted = numbers.toSorted((a, b) => a - b)
  return sorted[Math.floor(sorted.length * share)] ?? Number.NaN
}

export interface Percentiles {
  p50: number
  p95: number
  p99: number
  max: number
}

export function percentiles(numbers: number[]): Percentiles {
  const sorted = numbers.toSorted((a, b) => a - b)
  const at = (share: number) => sorted[Math.min(Math.floor(sorted.length * share), sorted.length - 1)] ?? Number.NaN
  return { p50: at(0.5), p95: at(0.95), p99: at(0.99), max: at(1) }
}
