import type { Organisation } from '@promptledger/client'
import { useMutation, useQueryClient } from '@tanstack/react-query'
import { type FormEvent, useState } from 'react'
import { ledger } from '../ledger.ts'
import { Button } from '../ui/button.tsx'
import { CopyableId } from '../ui/copy-button.tsx'
import { Detail } from '../ui/detail.tsx'
import { Field } from '../ui/field.tsx'
import { FormError } from '../ui/form-error.tsx'
import { Time } from '../ui/time.tsx'

const labels = { name: 'Name' }

export function OrganisationName({ organisation }: { organisation: Organisation }) {
  const queryClient = useQueryClient()
  const [name, setName] = useState(organisation.name)
  const renaming = useMutation({
    mutationFn: () => ledger.organisation.rename({ name: name.trim() }),
    onSuccess: async (renamed) => {
      queryClient.setQueryData(['organisation'], renamed)
      setName(renamed.name)
      // The top bar shows the name too.
      await queryClient.invalidateQueries({ queryKey: ['session'] })
    },
  })
  function submit(event: FormEvent) {
    event.preventDefault()
    renaming.mutate()
  }
  return (
    <section className="card" aria-labelledby="organisation">
      <h2 id="organisation">Organisation</h2>
      <dl className="details-list even">
        <Detail name="ID">
          <CopyableId id={organisation.id} what="organisation ID" />
        </Detail>
        <Detail name="Created">
          <Time at={organisation.created_at} as="date" />
        </Detail>
      </dl>
      <form className="settings-line" onSubmit={submit}>
        <Field label={labels.name} hint="Shown in the console, in alerts and in the audit log.">
          {(control) => (
            <input
              {...control}
              required
              autoComplete="off"
              value={name}
              onChange={(event) => setName(event.target.value)}
            />
          )}
        </Field>
        <Button type="submit" kind="primary" busy={renaming.isPending} disabled={name.trim() === organisation.name}>
          Rename
        </Button>
      </form>
      <FormError error={renaming.error} labels={labels} />
      <p role="status" className="muted">
        {renaming.isSuccess && name === organisation.name ? 'Renamed.' : ''}
      </p>
    </section>
  )
}
