import type { NewKey, Role, SessionInfo } from '@promptledger/client'
import { useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { ledger } from '../ledger.ts'
import { useMutation } from '../mutation.ts'
import { Checkbox, Field, LineField, NameField, RoleField } from '../ui/field.tsx'
import { FormDialog } from '../ui/form-dialog.tsx'
import { isLocalDate } from '../ui/iso-time.ts'
import { CreatedKey } from './created-key.tsx'

const labels = { name: 'Name', role: 'Role', prompts: 'Prompts', expires_at: 'Last day' }

export function CreateKey({ session, onClose }: { session: SessionInfo; onClose: () => void }) {
  const queryClient = useQueryClient()
  const [name, setName] = useState('')
  const { person } = session
  const isAdmin = session.key.role === 'admin'
  const allowed = roles.filter(({ role }) => isAdmin || person === null || person.key_roles.includes(role))
  const [role, setRole] = useState<Role>(allowed.some(({ role }) => role === 'standard') ? 'standard' : 'reader')
  const [isPersonal, setIsPersonal] = useState(!isAdmin)
  const [prompts, setPrompts] = useState('')
  const [lastDay, setLastDay] = useState('')
  const creation = useMutation({
    mutationFn: (body: NewKey) => ledger.keys.create(body),
    onSuccess: () => queryClient.invalidateQueries({ queryKey: ['keys'] }),
    // Drop the secret from the cache as soon as the dialog closes.
    gcTime: 0,
  })
  const canBeLimited = role !== 'admin'
  function submit() {
    const limit = canBeLimited && prompts.trim() !== '' ? prompts.trim() : null
    const terms = { name: name.trim(), role, prompts: limit, expires_at: endOfDay(lastDay) }
    creation.mutate({ ...terms, personal: isPersonal })
  }
  if (creation.data !== undefined) return <CreatedKey created={creation.data} onClose={onClose} />
  return (
    <FormDialog
      title="New key"
      mutation={creation}
      labels={labels}
      submitLabel="Create key"
      onSubmit={submit}
      onClose={onClose}
    >
      <NameField
        label={labels.name}
        hint="What the key is for, so that you can tell later which one to revoke."
        value={name}
        onChange={setName}
      />
      <RoleField roles={allowed} role={role} onChange={setRole} />
      {isAdmin && person !== null && (
        <Checkbox className="show-inactive" checked={isPersonal} onChange={setIsPersonal}>
          My own key, which ends if I am disabled
        </Checkbox>
      )}
      {canBeLimited && (
        <LineField
          label={labels.prompts}
          hint={
            <>
              Only prompts whose name or path matches, such as <code>prompts/support/**</code>. All others do not exist
              for the key. Leave empty for every prompt.
            </>
          }
          value={prompts}
          onChange={setPrompts}
        />
      )}
      <Field label={labels.expires_at} hint="In your time zone. Leave empty for a key that never expires.">
        {(control) => (
          <input
            {...control}
            placeholder="YYYY-MM-DD"
            autoComplete="off"
            value={lastDay}
            onChange={({ target }) => {
              setLastDay(target.value)
              const isDate = target.value === '' || isLocalDate(target.value)
              target.setCustomValidity(isDate ? '' : 'Use the form YYYY-MM-DD.')
            }}
          />
        )}
      </Field>
    </FormDialog>
  )
}

/** The last millisecond of a day such as 2026-11-15 in the reader's time zone, so the key is shown to expire on that day. */
function endOfDay(day: string): string | null {
  if (day === '') return null
  const [year, month, date] = day.split('-').map(Number) as [number, number, number]
  return new Date(year, month - 1, date, 23, 59, 59, 999).toISOString()
}

const roles: { role: Role; description: string }[] = [
  { role: 'ingest', description: 'Record signals, nothing else. For applications.' },
  { role: 'recorder', description: 'Record history entries, nothing else. For CI.' },
  { role: 'delivery', description: 'Fetch the texts of prompts and read their history. For applications.' },
  { role: 'reader', description: 'Read prompts, history, signals and usage, and sign in.' },
  { role: 'standard', description: 'Also record and delete signals.' },
  { role: 'deploy', description: 'Read, record deployments and run trials.' },
  { role: 'admin', description: 'Everything, including prompts, keys, repositories and alerts.' },
  { role: 'signing', description: 'Sign tokens for votes from browsers, nothing else. Makes no requests.' },
]
