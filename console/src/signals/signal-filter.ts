import type { ExportFormat, SignalFilter, SignalsOfChange, SignalValue } from '@promptledger/client'
import { promptPath } from '../prompt/prompt-path.ts'

const plainNames = ['value', 'since', 'until', 'version', 'comment', 'q', 'change', 'side'] as const
const memberPrefix = 'metadata.'

/** Names of the URL and of the API are the same. */
export function filterFrom(params: URLSearchParams): SignalFilter {
  const [value, change, side] = [params.get('value'), params.get('change'), params.get('side')]
  const metadata = Object.fromEntries(
    [...params]
      .filter(([name]) => name.startsWith(memberPrefix))
      .map(([name, text]) => [name.slice(memberPrefix.length), text]),
  )
  return {
    value: value === 'positive' || value === 'negative' ? value : undefined,
    since: params.get('since') ?? undefined,
    until: params.get('until') ?? undefined,
    version: params.get('version') ?? undefined,
    comment: params.get('comment') === 'any' ? 'any' : undefined,
    q: params.get('q') ?? undefined,
    // One is nothing without the other.
    change: change !== null && side !== null ? change : undefined,
    side: change === null || side === null ? undefined : side === 'before' ? 'before' : 'after',
    metadata: Object.keys(metadata).length === 0 ? undefined : metadata,
  }
}

/** The changes of the URL that remove all filters. */
export function withoutFilters({ metadata = {} }: SignalFilter): Record<string, null> {
  const names = [...plainNames, ...Object.keys(metadata).map(memberParameter)]
  return Object.fromEntries(names.map((name) => [name, null]))
}

/** The name of the URL parameter for a member of the metadata. */
export function memberParameter(name: string): string {
  return `${memberPrefix}${name}`
}

export function isFiltered(filter: SignalFilter): boolean {
  return filter.metadata !== undefined || plainNames.some((name) => filter[name] !== undefined)
}

/** Whether the service has to search the signals for this filter, instead of counting and paging them. */
export function isSearch({ comment, q, metadata, change, since, until, version }: SignalFilter): boolean {
  if (comment !== undefined || q !== undefined || metadata !== undefined) return true
  return change !== undefined && (since !== undefined || until !== undefined || version !== undefined)
}

export function exportUrl(promptId: string, filter: SignalFilter, format: ExportFormat): string {
  const query = new URLSearchParams({ format })
  for (const name of plainNames) if (filter[name] !== undefined) query.set(name, String(filter[name]))
  for (const [name, value] of Object.entries(filter.metadata ?? {})) query.set(memberParameter(name), value)
  return `/api/v1/prompts/${encodeURIComponent(promptId)}/signals/export?${query}`
}

/** Before or after a change. */
export type ChangeSide = SignalsOfChange['side']

interface LinkedSignals {
  /** The ID of a history entry: only signals that its impact counts, on this side. */
  change?: number
  side?: ChangeSide
  value?: SignalValue
  comment?: 'any'
  metadata?: Record<string, string>
}

/** The signals page of a prompt with these filters. */
export function signalsPath(promptId: string, { metadata = {}, ...filter }: LinkedSignals = {}): string {
  const query = new URLSearchParams()
  for (const [name, value] of Object.entries(filter)) if (value !== undefined) query.set(name, String(value))
  for (const [name, value] of Object.entries(metadata)) query.set(memberParameter(name), value)
  return `${promptPath(promptId)}/signals${query.size === 0 ? '' : `?${query}`}`
}
