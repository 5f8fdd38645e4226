import type { SignalFilter } from '@promptledger/client'
import { X } from 'lucide-react'
import { filterNames } from './filter.ts'
import { TimeField } from './time-field.tsx'
import { valueNames } from './value.tsx'

interface Props {
  filter: SignalFilter
  onChange: (changes: Record<string, string | null>) => void
}

const choices = [
  { name: 'All', value: undefined },
  { name: valueNames.positive, value: 'positive' },
  { name: valueNames.negative, value: 'negative' },
] as const

/** Which signals to look at. */
export function Filters({ filter, onChange }: Props) {
  const isFiltered = filterNames.some((name) => filter[name] !== undefined)
  return (
    <search className="filter-bar" aria-label="Signals">
      <fieldset className="choices">
        <legend className="unseen">Value</legend>
        {choices.map(({ name, value }) => (
          <button
            key={name}
            type="button"
            aria-pressed={filter.value === value}
            onClick={() => onChange({ value: value ?? null })}
          >
            {name}
          </button>
        ))}
      </fieldset>
      <TimeField label="From" at={filter.since?.toString() ?? null} onChange={(since) => onChange({ since })} />
      <TimeField label="Before" at={filter.until?.toString() ?? null} onChange={(until) => onChange({ until })} />
      {isFiltered && (
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
