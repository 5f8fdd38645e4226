import type { SignalFilter } from '@promptledger/client'
import { X } from 'lucide-react'
import { UntrustedText, visibleText } from '../ui/untrusted-text.tsx'
import type { SetParams } from '../url-params.ts'
import { ChangeFilter } from './change-filter.tsx'
import { FilterChip } from './filter-chip.tsx'
import { isFiltered, memberParameter, withoutFilters } from './signal-filter.ts'

interface Props {
  promptId: string
  filter: SignalFilter
  onChange: SetParams
}

/** The filters that have no field of their own, each with a button that removes it. */
export function ActiveFilters({ promptId, filter, onChange }: Props) {
  if (!isFiltered(filter)) return null
  const { change, side, metadata = {} } = filter
  return (
    <div className="active-filters">
      {change !== undefined && side !== undefined && (
        <ChangeFilter promptId={promptId} change={change} side={side} onChange={onChange} />
      )}
      {Object.entries(metadata).map(([name, value]) => (
        <FilterChip
          key={name}
          removeLabel={`Remove the filter ${visibleText(name)}: ${visibleText(value)}`}
          onRemove={() => onChange({ [memberParameter(name)]: null })}
        >
          <bdi>
            <UntrustedText text={name} />
          </bdi>
          :{' '}
          <bdi>
            <UntrustedText text={value} />
          </bdi>
        </FilterChip>
      ))}
      <button type="button" className="text-button" onClick={() => onChange(withoutFilters(filter))}>
        <X aria-hidden="true" />
        Clear filters
      </button>
    </div>
  )
}
