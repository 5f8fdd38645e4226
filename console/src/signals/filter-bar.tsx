import type { SignalFilter } from '@promptledger/client'
import { X } from 'lucide-react'
import { isFiltered } from './signal-filter.ts'
import { valueLabels } from './signal-value.tsx'
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

export function FilterBar({ filter, onChange }: Props) {
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
      <TimeField label="From" at={filter.since?.toString() ?? null} onChange={(since) => onChange({ since })} />
      <TimeField label="Before" at={filter.until?.toString() ?? null} onChange={(until) => onChange({ until })} />
      {isFiltered(filter) && (
        <button
          type="button"
          className="text-button"
          onClick={() => onChange({ value: null, since: null, until: null })}
        >
          <X aria-hidden="true" />
          Clear filters
        </button>
      )}
    </search>
  )
}
