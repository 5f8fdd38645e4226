import type { NewKey, Role } from '@promptledger/client'
import { useMutation, useQueryClient } from '@tanstack/react-query'
import { type FormEvent, useState } from 'react'
import { ledger } from '../ledger.ts'
import { Dialog } from '../ui/dialog.tsx'
import { Field } from '../ui/field.tsx'
import { FormFooter } from '../ui/form-footer.tsx'
import { isLocalDate } from '../ui/iso-time.ts'
import { NameField } from '../ui/name-field.tsx'
import { CreatedKey } from './created-key.tsx'
import { endOfDay } from './expiry.ts'
import { RoleField } from './role-field.tsx'

const labels = { name: 'Name', role: 'Role', prompts: 'Prompts', expires_at: 'Last day' }

export function CreateKey({ onClose }: { onClose: () => void }) {
  const queryClient = useQueryClient()
  const [name, setName] = useState('')
  const [role, setRole] = useState<Role>('standard')
  const [prompts, setPrompts] = useState('')
  const [lastDay, setLastDay] = useState('')
  const creation = useMutation({
    mutationFn: (body: NewKey) => ledger.keys.create(body),
    onSuccess: () => queryClient.invalidateQueries({ queryKey: ['keys'] }),
    // Drop the secret from the cache as soon as the dialog closes.
    gcTime: 0,
  })
  const canBeLimited = role !== 'admin'
  function submit(event: FormEvent) {
    event.preventDefault()
    const limit = canBeLimited && prompts.trim() !== '' ? prompts.trim() : null
    creation.mutate({ name: name.trim(), role, prompts: limit, expires_at: endOfDay(lastDay) })
  }
  if (creation.data !== undefined) return <CreatedKey created={creation.data} onClose={onClose} />
  return (
    <Dialog title="New key" onClose={onClose}>
      <form className="form" onSubmit={submit}>
        <NameField
          label={labels.name}
          hint="What the key is for, so that you can tell later which one to revoke."
          value={name}
          onChange={setName}
        />
        <RoleField role={role} onChange={setRole} />
        {canBeLimited && (
          <Field
            label={labels.prompts}
            hint={
              <>
                Only prompts whose name or path matches, such as <code>prompts/support/**</code>. All others do not
                exist for the key. Leave empty for every prompt.
              </>
            }
          >
            {(control) => (
              <input
                {...control}
                autoComplete="off"
                spellCheck={false}
                value={prompts}
                onChange={(event) => setPrompts(event.target.value)}
              />
            )}
          </Field>
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
        <FormFooter mutation={creation} labels={labels} submitLabel="Create key" onCancel={onClose} />
      </form>
    </Dialog>
  )
}
