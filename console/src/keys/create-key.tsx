import type { NewKey, Role } from '@promptledger/client'
import { useMutation, useQueryClient } from '@tanstack/react-query'
import { type FormEvent, useState } from 'react'
import { ledger } from '../ledger.ts'
import { Dialog } from '../ui/dialog.tsx'
import { Field } from '../ui/field.tsx'
import { FormFooter } from '../ui/form-footer.tsx'
import { focusOnOpen } from '../ui/initial-focus.ts'
import { CreatedKey } from './created-key.tsx'
import { endOfDay, today } from './expiry.ts'
import { RoleField } from './role-field.tsx'

const labels = { name: 'Name', role: 'Role', expires_at: 'Last day' }

export function CreateKey({ onClose }: { onClose: () => void }) {
  const queryClient = useQueryClient()
  const [name, setName] = useState('')
  const [role, setRole] = useState<Role>('standard')
  const [lastDay, setLastDay] = useState('')
  const creation = useMutation({
    mutationFn: (body: NewKey) => ledger.keys.create(body),
    onSuccess: () => queryClient.invalidateQueries({ queryKey: ['keys'] }),
    // Drop the secret from the cache as soon as the dialog closes.
    gcTime: 0,
  })
  function submit(event: FormEvent) {
    event.preventDefault()
    creation.mutate({ name: name.trim(), role, expires_at: endOfDay(lastDay) })
  }
  if (creation.data !== undefined) return <CreatedKey created={creation.data} onClose={onClose} />
  return (
    <Dialog title="New key" onClose={onClose}>
      <form className="form" onSubmit={submit}>
        <Field label={labels.name} hint="What the key is for, so that you can tell later which one to revoke.">
          {(control) => (
            <input
              {...control}
              ref={focusOnOpen}
              required
              maxLength={200}
              autoComplete="off"
              value={name}
              onChange={(event) => setName(event.target.value)}
            />
          )}
        </Field>
        <RoleField role={role} onChange={setRole} />
        <Field label={labels.expires_at} hint="In your time zone. Leave empty for a key that never expires.">
          {(control) => (
            <input
              {...control}
              type="date"
              min={today()}
              value={lastDay}
              onChange={(event) => setLastDay(event.target.value)}
            />
          )}
        </Field>
        <FormFooter mutation={creation} labels={labels} submitLabel="Create key" onCancel={onClose} />
      </form>
    </Dialog>
  )
}
