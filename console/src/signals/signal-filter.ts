import type { ExportFormat, SignalFilter } from '@promptledger/client'

const plainNames = ['value', 'since', 'until', 'version', 'comment', 'q'] as const
export const filterNames = [...plainNames, 'metadata'] as const

/** The filter in the URL. `metadata` is one member, as `key=value`. */
export function filterFrom(params: URLSearchParams): SignalFilter {
  const value = params.get('value')
  const [key, ...rest] = (params.get('metadata') ?? '').split('=')
  return {
    value: value === 'positive' || value === 'negative' ? value : undefined,
    since: params.get('since') ?? undefined,
    until: params.get('until') ?? undefined,
    version: params.get('version') ?? undefined,
    comment: params.get('comment') === 'any' ? 'any' : undefined,
    q: params.get('q') ?? undefined,
    metadata: key !== undefined && rest.length > 0 ? { [key]: rest.join('=') } : undefined,
  }
}

export function isFiltered(filter: SignalFilter): boolean {
  return filterNames.some((name) => filter[name] !== undefined)
}

/** Whether the service has to search the signals for this filter, instead of counting and paging them. */
export function isSearch({ comment, q, metadata }: SignalFilter): boolean {
  return comment !== undefined || q !== undefined || metadata !== undefined
}

/** The browser downloads the export itself, authenticated by the session cookie. */
export function exportUrl(promptId: string, filter: SignalFilter, format: ExportFormat): string {
  const query = new URLSearchParams({ format })
  for (const name of plainNames) if (filter[name] !== undefined) query.set(name, String(filter[name]))
  for (const [name, value] of Object.entries(filter.metadata ?? {})) query.set(`metadata.${name}`, value)
  return `/api/v1/prompts/${encodeURIComponent(promptId)}/signals/export?${query}`
}
