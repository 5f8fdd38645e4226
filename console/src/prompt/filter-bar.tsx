import type { Action } from '@promptledger/client'
import { actionLabels, actions } from '../ui/action-icon.tsx'
import { type Preset, presets, type TimeRange } from './time-range.ts'

interface Props {
  range: TimeRange
  selectedActions: Action[]
  /** The dates of a custom range, empty for none. */
  from: string
  to: string
  onChange: (changes: Record<string, string | null>) => void
}

/** Filters the chart and the timeline by time range and action. */
export function FilterBar({ range, selectedActions, from, to, onChange }: Props) {
  function toggle(action: Action) {
    const isSelected = selectedActions.includes(action)
    const next = isSelected ? selectedActions.filter((other) => other !== action) : [...selectedActions, action]
    onChange({ action: next.length === 0 ? null : next.join(',') })
  }
  return (
    <div className="filter-bar spread">
      <fieldset className="toggle-group">
        <legend className="visually-hidden">Time range</legend>
        {(Object.keys(presets) as Preset[]).map((preset) => (
          <button
            key={preset}
            type="button"
            aria-pressed={range.preset === preset}
            onClick={() => onChange({ range: preset === 'year' ? null : preset, from: null, to: null })}
          >
            {presets[preset].label}
          </button>
        ))}
        <DateField label="From" value={from} max={to} onChange={(date) => onChange({ from: date, range: null })} />
        <span className="muted" aria-hidden="true">
          to
        </span>
        <DateField label="To" value={to} min={from} onChange={(date) => onChange({ to: date, range: null })} />
      </fieldset>
      <fieldset className="toggle-group">
        <legend className="visually-hidden">Actions</legend>
        {actions.map((action) => (
          <button
            key={action}
            type="button"
            aria-pressed={selectedActions.includes(action)}
            onClick={() => toggle(action)}
          >
            {actionLabels[action]}
          </button>
        ))}
      </fieldset>
    </div>
  )
}

interface DateFieldProps {
  label: string
  value: string
  min?: string
  max?: string
  onChange: (date: string) => void
}

function DateField({ label, onChange, ...input }: DateFieldProps) {
  return (
    <label className="date-field">
      <span className="visually-hidden">{label}</span>
      <input type="date" {...input} onChange={({ target }) => onChange(target.value)} />
    </label>
  )
}

/** The actions in the URL. */
export function actionsFrom(params: URLSearchParams): Action[] {
  const names = params.get('action')?.split(',') ?? []
  return actions.filter((action) => names.includes(action))
}
