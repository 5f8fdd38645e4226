import type { SignalFilter } from '@promptledger/client'
import { MessageSquare } from 'lucide-react'
import { useCallback } from 'react'
import { useIsPhone } from '../ui/media-query.ts'
import { ToggleGroup } from '../ui/toggle-group.tsx'
import type { SetParams } from '../url-params.ts'
import { MetadataFilter } from './metadata-filter.tsx'
import { memberParameter } from './signal-filter.ts'
import { valueLabels } from './signal-value.tsx'
import { TextFilter } from './text-filter.tsx'
import { TimeField } from './time-field.tsx'

interface Props {
  promptId: string
  filter: SignalFilter
  onChange: SetParams
}

const values = [
  { label: 'All', value: undefined },
  { label: valueLabels.positive, value: 'positive' },
  { label: valueLabels.negative, value: 'negative' },
] as const

/** Each filter is in the URL. Typing replaces the current step of the history; everything else is a new one. */
export function FilterBar({ promptId, filter, onChange }: Props) {
  const hasComment = filter.comment === 'any'
  const hasMore = filter.since !== undefined || filter.until !== undefined || filter.version !== undefined
  const isPhone = useIsPhone()
  return (
    <search aria-label="Filter signals">
      <div className="filter-bar">
        <ToggleGroup
          label="Value"
          options={values}
          isSelected={(value) => value === filter.value}
          onSelect={(value) => onChange({ value: value ?? null })}
        />
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
        <TextParameter name="q" label="Comment" placeholder="Part of the comment" filter={filter} onChange={onChange} />
      </div>
      <details className="more-filters" open={hasMore || !isPhone}>
        <summary>More filters</summary>
        <div className="filter-bar">
          <TimeField label="From" at={filter.since?.toString() ?? null} onChange={(since) => onChange({ since })} />
          <TimeField label="Before" at={filter.until?.toString() ?? null} onChange={(until) => onChange({ until })} />
          <TextParameter
            name="version"
            label="Version"
            placeholder="Commit or entry ID"
            filter={filter}
            onChange={onChange}
          />
          <MetadataFilter promptId={promptId} onAdd={(name, value) => onChange({ [memberParameter(name)]: value })} />
        </div>
      </details>
    </search>
  )
}

interface ParameterProps extends Omit<Props, 'promptId'> {
  name: 'q' | 'version'
  label: string
  placeholder: string
}

function TextParameter({ name, label, placeholder, filter, onChange }: ParameterProps) {
  const type = useCallback((text: string) => onChange({ [name]: text }, { replace: true }), [name, onChange])
  const submit = useCallback(
    (text: string, before: string) => {
      // Back leads to the list from before the search, not to one of a text that was typed halfway.
      onChange({ [name]: before }, { replace: true })
      onChange({ [name]: text })
    },
    [name, onChange],
  )
  return (
    <TextFilter label={label} placeholder={placeholder} text={filter[name] ?? ''} onType={type} onSubmit={submit} />
  )
}
