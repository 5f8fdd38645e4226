import type { Role } from '@promptledger/client'
import { useId } from 'react'

const roles: { role: Role; description: string }[] = [
  { role: 'ingest', description: 'Record signals, nothing else. For applications.' },
  { role: 'recorder', description: 'Record history entries, nothing else. For CI.' },
  { role: 'reader', description: 'Read prompts, history, signals and usage, and sign in.' },
  { role: 'standard', description: 'Also record and delete signals.' },
  { role: 'admin', description: 'Everything, including prompts, keys, repositories and alerts.' },
  { role: 'signing', description: 'Sign tokens for votes from browsers, nothing else. Makes no requests.' },
]

export function RoleField({ role: selected, onChange }: { role: Role; onChange: (role: Role) => void }) {
  const name = useId()
  return (
    <fieldset className="role-field">
      <legend>Role</legend>
      {roles.map(({ role, description }) => (
        <label key={role}>
          <input type="radio" name={name} value={role} checked={selected === role} onChange={() => onChange(role)} />
          <span>
            <strong className="role-name">{role}</strong>
            <span className="muted">{description}</span>
          </span>
        </label>
      ))}
    </fieldset>
  )
}
