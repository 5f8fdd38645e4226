import { useId } from 'react'
import { IsoInput } from '../ui/iso-input.tsx'
import { isLocalDate } from '../ui/iso-time.ts'
import { ToggleGroup } from '../ui/toggle-group.tsx'
import type { SetParams } from '../url-params.ts'
import { dateOf, type Preset, presets, type TimeRange } from './time-range.ts'

const presetOptions = (Object.keys(presets) as Preset[]).map((preset) => ({
  value: preset,
  label: presets[preset].label,
}))

export function RangePresets({ range, onChange }: { range: TimeRange; onChange: SetParams }) {
  return (
    <ToggleGroup
      label="Time range"
      options={presetOptions}
      isSelected={(preset) => preset === range.preset}
      onSelect={(preset) => onChange({ range: preset === 'year' ? null : preset, from: null, to: null })}
    />
  )
}

/** The dates of a custom range. */
export function RangeDates({ params, onChange }: { params: URLSearchParams; onChange: SetParams }) {
  const [from, to] = [dateOf(params.get('from')), dateOf(params.get('to'))]
  return (
    <div className="range-dates">
      <DateField label="From" value={from} onChange={(date) => onChange({ from: date })} />
      <span className="muted" aria-hidden="true">
        to
      </span>
      <DateField label="To" value={to} onChange={(date) => onChange({ to: date })} />
    </div>
  )
}

interface DateFieldProps {
  label: string
  value: string
  onChange: (date: string) => void
}

function DateField({ label, ...input }: DateFieldProps) {
  const id = useId()
  return (
    <span className="date-field">
      <label className="visually-hidden" htmlFor={id}>
        {label}
      </label>
      <IsoInput id={id} form="YYYY-MM-DD" isValid={isLocalDate} {...input} />
    </span>
  )
}
