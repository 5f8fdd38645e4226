import type { NewKey as NewKeyBody, Role } from '@promptledger/client'
import { useMutation, useQueryClient } from '@tanstack/react-query'
import { type FormEvent, useId, useState } from 'react'
import { ledger } from '../ledger.ts'
import { Button } from '../ui/button.tsx'
import { Dialog } from '../ui/dialog.tsx'
import { Field } from '../ui/field.tsx'
import { firstFocus } from '../ui/first-focus.ts'
import { Refusal } from '../ui/refusal.tsx'
import { endOfDay, today } from './expiry.ts'
import { Issued } from './issued.tsx'
import { roles } from './roles.ts'

export function NewKey({ onClose }: { onClose: () => void }) {
  const queries = useQueryClient()
  const [name, setName] = useState('')
  const [role, setRole] = useState<Role>('standard')
  const [lastDay, setLastDay] = useState('')
  const creation = useMutation({
    mutationFn: (body: NewKeyBody) => ledger.keys.create(body),
    onSuccess: () => queries.invalidateQueries({ queryKey: ['keys'] }),
    // The key is gone from memory as soon as it is gone from the page.
    gcTime: 0,
  })
  function submit(event: FormEvent) {
    event.preventDefault()
    creation.mutate({ name: name.trim(), role, expires_at: endOfDay(lastDay) })
  }
  if (creation.data !== undefined) {
    return (
      <Dialog key="made" title="The key is made" onClose={onClose}>
        <Issued issued={creation.data} onClose={onClose} />
      </Dialog>
    )
  }
  return (
    <Dialog title="New key" onClose={onClose}>
      <form className="form" onSubmit={submit}>
        <Field label="Name" hint="What it is for, so that you know later which one to revoke.">
          {(control) => (
            <input
              {...control}
              ref={firstFocus}
              required
              maxLength={200}
              autoComplete="off"
              value={name}
              onChange={(event) => setName(event.target.value)}
            />
          )}
        </Field>
        <RoleField role={role} onChange={setRole} />
        <Field label="Last day" hint="In your zone. Leave it empty for a key that never expires.">
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
        <Refusal error={creation.error} />
        <div className="form-end">
          <Button onClick={onClose}>Cancel</Button>
          <Button type="submit" kind="primary" busy={creation.isPending}>
            Create the key
          </Button>
        </div>
      </form>
    </Dialog>
  )
}

function RoleField({ role, onChange }: { role: Role; onChange: (role: Role) => void }) {
  const name = useId()
  return (
    <fieldset className="role-field">
      <legend>Role</legend>
      {roles.map(({ role: each, may }) => (
        <label key={each}>
          <input type="radio" name={name} value={each} checked={role === each} onChange={() => onChange(each)} />
          <span>
            <strong className="role-name">{each}</strong>
            <span className="quiet">{may}</span>
          </span>
        </label>
      ))}
    </fieldset>
  )
}
