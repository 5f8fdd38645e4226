import type { Action } from '@promptledger/client'
import { actionNames, actions } from '../ui/action.tsx'
import { type Range, type RangeName, ranges } from './range.ts'

interface Props {
  range: Range
  chosen: Action[]
  from: string
  to: string
  onChange: (changes: Record<string, string | null>) => void
}

/** Which time and which actions to look at. */
export function Filters({ range, chosen, from, to, onChange }: Props) {
  function toggle(action: Action) {
    const next = chosen.includes(action) ? chosen.filter((each) => each !== action) : [...chosen, action]
    onChange({ action: next.length === 0 ? null : next.join(',') })
  }
  return (
    <div className="filters">
      <fieldset className="choices">
        <legend className="unseen">Time</legend>
        {(Object.keys(ranges) as RangeName[]).map((name) => (
          <button
            key={name}
            type="button"
            aria-pressed={range.name === name}
            onClick={() => onChange({ range: name === 'year' ? null : name, from: null, to: null })}
          >
            {ranges[name].name}
          </button>
        ))}
        <label className="date-choice">
          <span className="unseen">From</span>
          <input
            type="date"
            value={from}
            max={to}
            onChange={(event) => onChange({ from: event.target.value, range: null })}
          />
        </label>
        <span className="quiet" aria-hidden="true">
          to
        </span>
        <label className="date-choice">
          <span className="unseen">To</span>
          <input
            type="date"
            value={to}
            min={from}
            onChange={(event) => onChange({ to: event.target.value, range: null })}
          />
        </label>
      </fieldset>
      <fieldset className="choices">
        <legend className="unseen">Actions</legend>
        {actions.map((action) => (
          <button key={action} type="button" aria-pressed={chosen.includes(action)} onClick={() => toggle(action)}>
            {actionNames[action]}
          </button>
        ))}
      </fieldset>
    </div>
  )
}

export function actionsOf(text: string | null): Action[] {
  const words = text?.split(',') ?? []
  return actions.filter((action) => words.includes(action))
}
