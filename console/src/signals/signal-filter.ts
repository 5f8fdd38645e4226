import type { ExportFormat, SignalFilter } from '@promptledger/client'

const filterNames = ['value', 'since', 'until'] as const

/** The filter in the URL. */
export function filterFrom(params: URLSearchParams): SignalFilter {
  const value = params.get('value')
  return {
    value: value === 'positive' || value === 'negative' ? value : undefined,
    since: params.get('since') ?? undefined,
    until: params.get('until') ?? undefined,
  }
}

export function isFiltered(filter: SignalFilter): boolean {
  return filterNames.some((name) => filter[name] !== undefined)
}

/** The browser downloads the export itself, authenticated by the session cookie. */
export function exportUrl(promptId: string, filter: SignalFilter, format: ExportFormat): string {
  const query = new URLSearchParams({ format })
  for (const name of filterNames) if (filter[name] !== undefined) query.set(name, String(filter[name]))
  return `/api/v1/prompts/${encodeURIComponent(promptId)}/signals/export?${query}`
}
