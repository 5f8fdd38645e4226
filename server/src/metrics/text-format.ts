/** All samples of one metric. The samples of a histogram append a suffix to its name. */
export interface Family {
  name: string
  type: 'counter' | 'gauge' | 'histogram'
  help: string
  samples: Sample[]
}

export interface Sample {
  suffix?: '_bucket' | '_sum' | '_count'
  labels?: Record<string, string>
  value: number
}

export function counter(name: string, help: string, samples: Sample[]): Family {
  return { name, type: 'counter', help, samples }
}

export function gauge(name: string, help: string, samples: Sample[]): Family {
  return { name, type: 'gauge', help, samples }
}

export function histogram(name: string, help: string, samples: Sample[]): Family {
  return { name, type: 'histogram', help, samples }
}

/** One sample for each value, under its key. */
export function by(label: string, values: Record<string, number>): Sample[] {
  return Object.entries(values).map(([key, value]) => ({ labels: { [label]: key }, value }))
}

export const contentType = 'text/plain; version=0.0.4; charset=utf-8'

/** Formats metrics in the Prometheus text format. */
export function formatMetrics(families: Family[]): string {
  return families.map(formatFamily).join('')
}

function formatFamily({ name, type, help, samples }: Family): string {
  const lines = samples.map(
    ({ suffix = '', labels, value }) => `${name}${suffix}${formatLabels(labels)} ${formatNumber(value)}`,
  )
  return [`# HELP ${name} ${escapeHelp(help)}`, `# TYPE ${name} ${type}`, ...lines, ''].join('\n')
}

function formatLabels(labels: Record<string, string> = {}): string {
  const pairs = Object.entries(labels).map(([name, value]) => `${name}="${escapeLabel(value)}"`)
  return pairs.length === 0 ? '' : `{${pairs.join(',')}}`
}

function escapeHelp(text: string): string {
  return text.replaceAll('\\', '\\\\').replaceAll('\n', '\\n')
}

function escapeLabel(text: string): string {
  return escapeHelp(text).replaceAll('"', '\\"')
}

export function formatNumber(value: number): string {
  if (value === Number.POSITIVE_INFINITY) return '+Inf'
  return value === Number.NEGATIVE_INFINITY ? '-Inf' : String(value)
}
