import type { ExportFormat, SignalFilter } from '@promptledger/client'

export const filterNames = ['value', 'since', 'until'] as const

/** Which signals the address asks for. */
export function filterOf(address: URLSearchParams): SignalFilter {
  const value = address.get('value')
  return {
    value: value === 'positive' || value === 'negative' ? value : undefined,
    since: address.get('since') ?? undefined,
    until: address.get('until') ?? undefined,
  }
}

/** Where the browser itself fetches a file of them; the cookie speaks for whoever clicks. */
export function exportAddress(promptId: string, filter: SignalFilter, format: ExportFormat): string {
  const query = new URLSearchParams({ format })
  for (const name of filterNames) if (filter[name] !== undefined) query.set(name, String(filter[name]))
  return `/api/v1/prompts/${encodeURIComponent(promptId)}/signals/export?${query}`
}
