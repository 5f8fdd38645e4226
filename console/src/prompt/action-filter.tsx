import type { Action } from '@promptledger/client'
import { actionLabels, actions } from '../ui/action-icon.tsx'
import { ToggleGroup } from '../ui/toggle-group.tsx'
import type { SetParams } from '../url-params.ts'

// A pull request that was merged or closed is one row, so only open ones are left.
const labels = { ...actionLabels, pr_opened: 'Open' }
const options = actions.map((action) => ({ value: action, label: labels[action] }))

/** Filters the history by action. */
export function ActionFilter({ selected, onChange }: { selected: Action[]; onChange: SetParams }) {
  function toggle(action: Action) {
    const isSelected = selected.includes(action)
    const next = isSelected ? selected.filter((other) => other !== action) : [...selected, action]
    onChange({ action: next.length === 0 ? null : next.join(',') })
  }
  return (
    <ToggleGroup
      label="Actions"
      options={options}
      isSelected={(action) => selected.includes(action)}
      onSelect={toggle}
    />
  )
}

/** The actions in the URL. */
export function actionsFrom(params: URLSearchParams): Action[] {
  const names = params.get('action')?.split(',') ?? []
  return actions.filter((action) => names.includes(action))
}
