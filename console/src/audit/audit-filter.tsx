import { X } from 'lucide-react'
import { TimeField } from '../signals/time-field.tsx'
import type { SetParams } from '../url-params.ts'
import { actionGroups } from './actions.ts'

interface Props {
  params: URLSearchParams
  onChange: SetParams
}

const names = ['action', 'actor', 'since', 'until'] as const
const noFilters = Object.fromEntries(names.map((name) => [name, null]))

export function AuditFilter({ params, onChange }: Props) {
  const actor = params.get('actor')
  return (
    <search className="filter-bar" aria-label="Filter the audit log">
      <label className="audit-select">
        <span>Action</span>
        <select value={params.get('action') ?? ''} onChange={({ target }) => onChange({ action: target.value })}>
          <option value="">All actions</option>
          {Object.entries(actionGroups).map(([group, labels]) => (
            <optgroup key={group} label={group}>
              {Object.entries(labels).map(([action, label]) => (
                <option key={action} value={action}>
                  {label}
                </option>
              ))}
            </optgroup>
          ))}
        </select>
      </label>
      <TimeField label="From" at={params.get('since')} onChange={(since) => onChange({ since })} />
      <TimeField label="Before" at={params.get('until')} onChange={(until) => onChange({ until })} />
      {actor !== null && (
        <span className="badge plain">{actor === 'operator' ? 'By the operator' : `By key ${actor.slice(0, 20)}`}</span>
      )}
      {names.some((name) => params.has(name)) && (
        <button type="button" className="text-button" onClick={() => onChange(noFilters)}>
          <X aria-hidden="true" />
          Clear filters
        </button>
      )}
    </search>
  )
}
