import type { AddedSource, NewSource } from '@promptledger/client'
import { useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { useLocation } from 'wouter'
import { ledger } from '../ledger.ts'
import { useMutation } from '../mutation.ts'
import { CopyField } from '../ui/copy-field.tsx'
import { Field } from '../ui/field.tsx'
import { FormDialog } from '../ui/form-dialog.tsx'
import { SecretDialog } from '../ui/secret-dialog.tsx'
import { type AdapterName, adapterNames, adapters } from './adapters.ts'
import { SetUpSteps, SourceFields } from './source-fields.tsx'
import { labels, newForm, settingsOf } from './source-form.ts'
import { refreshSources } from './source-query.ts'

/** Adds a source, and opens its page, which says what to do with its URL. */
export function AddSource({ onClose }: { onClose: () => void }) {
  const queryClient = useQueryClient()
  const [, navigate] = useLocation()
  const [adapter, setAdapter] = useState<AdapterName>('webhook')
  const [form, setForm] = useState(newForm)
  // Replaces the form in the history: Back would open it again.
  const open = ({ id }: AddedSource) => navigate(`/sources/${id}`, { replace: true })
  const addition = useMutation({
    mutationFn: (body: NewSource) => ledger.sources.add(body),
    onSuccess: async (added) => {
      await refreshSources(queryClient)
      if (added.secret === null) open(added)
    },
    // Drop the secret from the cache as soon as the dialog closes.
    gcTime: 0,
  })
  const added = addition.data
  if (added?.secret != null) {
    return (
      <SecretDialog
        title="Source added"
        label="Secret"
        secret={added.secret}
        recovery="set another one"
        onClose={() => open(added)}
      >
        <CopyField label="URL" value={added.url} />
        <SetUpSteps adapter={adapter} />
      </SecretDialog>
    )
  }
  return (
    <FormDialog
      title="New source"
      mutation={addition}
      labels={labels}
      submitLabel="Add source"
      onSubmit={() => addition.mutate({ adapter, ...settingsOf(form) })}
      onClose={onClose}
    >
      <SourceFields
        adapter={adapter}
        form={form}
        onChange={(changes) => setForm((current) => ({ ...current, ...changes }))}
        isEdit={false}
      >
        <Field label={labels.adapter} hint={adapters[adapter].what}>
          {(control) => (
            <select {...control} value={adapter} onChange={({ target }) => setAdapter(target.value as AdapterName)}>
              {adapterNames.map((name) => (
                <option key={name} value={name}>
                  {adapters[name].label}
                </option>
              ))}
            </select>
          )}
        </Field>
      </SourceFields>
    </FormDialog>
  )
}
