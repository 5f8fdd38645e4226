import { formatNumber, type Sample } from './text-format.ts'

export interface Histogram {
  observe(value: number): void
  samples(labels?: Record<string, string>): Sample[]
}

/** `bounds` are the inclusive upper bounds of the buckets. `observe` allocates nothing. */
export function createHistogram(bounds: readonly number[]): Histogram {
  const counts = new Float64Array(bounds.length + 1)
  const sum = new Float64Array(1)
  return {
    observe(value) {
      let i = 0
      while (i < bounds.length && value > (bounds[i] as number)) i++
      counts[i] = (counts[i] as number) + 1
      sum[0] = (sum[0] as number) + value
    },
    samples(labels = {}) {
      let total = 0
      const buckets = [...bounds, Number.POSITIVE_INFINITY].map((bound, i): Sample => {
        total += counts[i] as number
        return { suffix: '_bucket', labels: { ...labels, le: formatNumber(bound) }, value: total }
      })
      return [
        ...buckets,
        { suffix: '_sum', labels, value: sum[0] as number },
        { suffix: '_count', labels, value: total },
      ]
    },
  }
}
