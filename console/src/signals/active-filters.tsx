import type { SignalFilter } from '@promptledger/client'
import { X } from 'lucide-react'
import type { ReactNode } from 'react'
import { Link } from 'wouter'
import { useTimelineEntry } from '../prompt/entry-queries.ts'
import { changeLabel } from '../prompt/entry-title.ts'
import { changePath } from '../prompt/prompt-path.ts'
import { mediumDate } from '../ui/locale.ts'
import { UntrustedText, visibleText } from '../ui/untrusted-text.tsx'
import type { SetParams } from '../url-params.ts'
import { type ChangeSide, isFiltered, memberParameter, withoutFilters } from './signal-filter.ts'

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

interface ChangeFilterProps {
  promptId: string
  change: string
  side: ChangeSide
  onChange: SetParams
}

const sideNames = { before: 'Before', after: 'After' }

/** The change whose signals are listed. Its name leads to the change. */
function ChangeFilter({ promptId, change, side, onChange }: ChangeFilterProps) {
  const id = Number(change)
  const { data } = useTimelineEntry(promptId, Number.isSafeInteger(id) && id > 0 ? id : null)
  const other = side === 'before' ? 'after' : 'before'
  const at = data === undefined ? null : (data.impact?.live_from ?? data.entry.created_at)
  return (
    <>
      <FilterChip
        removeLabel="Remove the filter on this change"
        onRemove={() => onChange({ change: null, side: null })}
      >
        {sideNames[side]}{' '}
        {data === undefined || at === null ? (
          `change ${change}`
        ) : (
          <Link href={changePath(promptId, id)}>
            <UntrustedText text={changeLabel(data.entry)} />, {mediumDate(new Date(at))}
          </Link>
        )}
      </FilterChip>
      <button type="button" className="text-button" onClick={() => onChange({ side: other })}>
        Show {other}
      </button>
    </>
  )
}

interface FilterChipProps {
  removeLabel: string
  onRemove: () => void
  children: ReactNode
}

/** A filter that is set, and a button that removes it. */
function FilterChip({ removeLabel, onRemove, children }: FilterChipProps) {
  return (
    <span className="filter-chip">
      <span className="filter-chip-text">{children}</span>
      <button type="button" aria-label={removeLabel} title={removeLabel} onClick={onRemove}>
        <X aria-hidden="true" />
      </button>
    </span>
  )
}
