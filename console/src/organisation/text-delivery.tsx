import type { DeliverySettings } from '@promptledger/client'
import { useQuery, useQueryClient } from '@tanstack/react-query'
import { type FormEvent, useState } from 'react'
import { ledger } from '../ledger.ts'
import { useMutation } from '../mutation.ts'
import { Button } from '../ui/button.tsx'
import { Checkbox, Field } from '../ui/field.tsx'
import { FormError } from '../ui/form-error.tsx'
import { LoadError } from '../ui/load-state.tsx'

const labels = { excluded: 'Never deliver' }

export function TextDelivery() {
  const settings = useDeliverySettings()
  return (
    <section className="card" aria-labelledby="delivery">
      <h2 id="delivery">Text delivery</h2>
      <p className="muted">
        Applications fetch the live texts of prompts from here instead of shipping them, so that a merge is live within
        30 seconds. Trials need it. Give each application a key with the role <code>delivery</code>.
      </p>
      {settings.isError && <LoadError error={settings.error} retry={settings.refetch} />}
      {settings.data && <DeliveryForm settings={settings.data} />}
    </section>
  )
}

function DeliveryForm({ settings }: { settings: DeliverySettings }) {
  const queryClient = useQueryClient()
  const [enabled, setEnabled] = useState(settings.enabled)
  const [text, setText] = useState(settings.excluded.join('\n'))
  const saving = useMutation({
    mutationFn: (body: DeliverySettings) => ledger.texts.updateSettings(body),
    onSuccess: (saved) => {
      queryClient.setQueryData(deliverySettingsKey, saved)
      setText(saved.excluded.join('\n'))
    },
  })
  const excluded = text
    .split('\n')
    .map((line) => line.trim())
    .filter(Boolean)
  const isChanged = enabled !== settings.enabled || excluded.join('\n') !== settings.excluded.join('\n')
  function submit(event: FormEvent) {
    event.preventDefault()
    saving.mutate({ enabled, excluded })
  }
  return (
    <form className="segment-keys" onSubmit={submit}>
      <Checkbox checked={enabled} onChange={setEnabled}>
        Deliver texts to applications
      </Checkbox>
      {settings.enabled && !enabled && (
        <p className="muted">Applications keep the texts that they have. Running trials end.</p>
      )}
      <Field
        label={labels.excluded}
        hint={
          <>
            Prompts whose name or path matches one of these patterns, one per line, such as <code>internal/**</code>.
          </>
        }
      >
        {(control) => (
          <textarea
            {...control}
            rows={3}
            spellCheck={false}
            value={text}
            onChange={({ target }) => setText(target.value)}
          />
        )}
      </Field>
      <FormError error={saving.error} labels={labels} />
      <div className="form-actions">
        <span role="status" className="muted">
          {saving.isSuccess && !isChanged ? 'Saved.' : ''}
        </span>
        <Button type="submit" kind="primary" busy={saving.isPending} disabled={!isChanged}>
          Save text delivery
        </Button>
      </div>
    </form>
  )
}

const deliverySettingsKey = ['delivery settings']

/** Only admins may read them. */
export function useDeliverySettings(isAdmin = true) {
  return useQuery({
    queryKey: deliverySettingsKey,
    enabled: isAdmin,
    queryFn: ({ signal }) => ledger.texts.settings({ signal }),
  })
}
