import type { SignalFilter } from '@promptledger/client'
import { MessageSquare, X } from 'lucide-react'
import { useCallback } from 'react'
import { filterNames, isFiltered } from './signal-filter.ts'
import { valueLabels } from './signal-value.tsx'
import { TextFilter } from './text-filter.tsx'
import { TimeField } from './time-field.tsx'

interface Props {
  filter: SignalFilter
  onChange: (changes: Record<string, string | null>) => void
}

const values = [
  { label: 'All', value: undefined },
  { label: valueLabels.positive, value: 'positive' },
  { label: valueLabels.negative, value: 'negative' },
] as const

const noFilters = Object.fromEntries(filterNames.map((name) => [name, null]))
const isMember = (text: string) => text.indexOf('=') > 0

export function FilterBar({ filter, onChange }: Props) {
  const setQ = useCallback((q: string) => onChange({ q }), [onChange])
  const setVersion = useCallback((version: string) => onChange({ version }), [onChange])
  const setMetadata = useCallback((metadata: string) => onChange({ metadata }), [onChange])
  const [member] = Object.entries(filter.metadata ?? {})
  const hasComment = filter.comment === 'any'
  return (
    <search className="filter-bar" aria-label="Filter signals">
      <fieldset className="toggle-group">
        <legend className="visually-hidden">Value</legend>
        {values.map(({ label, value }) => (
          <button
            key={label}
            type="button"
            aria-pressed={filter.value === value}
            onClick={() => onChange({ value: value ?? null })}
          >
            {label}
          </button>
        ))}
      </fieldset>
      <div className="toggle-group">
        <button
          type="button"
          aria-pressed={hasComment}
          onClick={() => onChange({ comment: hasComment ? null : 'any' })}
        >
          <MessageSquare aria-hidden="true" />
          With comment
        </button>
      </div>
      <TimeField label="From" at={filter.since?.toString() ?? null} onChange={(since) => onChange({ since })} />
      <TimeField label="Before" at={filter.until?.toString() ?? null} onChange={(until) => onChange({ until })} />
      <TextFilter label="Comment" placeholder="Part of the comment" text={filter.q ?? ''} onChange={setQ} />
      <TextFilter label="Version" placeholder="Commit or entry ID" text={filter.version ?? ''} onChange={setVersion} />
      <TextFilter
        label="Metadata"
        placeholder="key=value"
        text={member === undefined ? '' : member.join('=')}
        onChange={setMetadata}
        isUsable={isMember}
      />
      {isFiltered(filter) && (
        <button type="button" className="text-button" onClick={() => onChange(noFilters)}>
          <X aria-hidden="true" />
          Clear filters
        </button>
      )}
    </search>
  )
}
