import type { Alert, AlertUpdate } from '@promptledger/client'
import { useMutation, useQueryClient } from '@tanstack/react-query'
import { type FormEvent, useState } from 'react'
import { ledger } from '../ledger.ts'
import { Dialog } from '../ui/dialog.tsx'
import { FormFooter } from '../ui/form-footer.tsx'
import { AlertFields } from './alert-fields.tsx'
import { formOf, labelsFor, rulesOf } from './alert-form.ts'
import { refreshAlerts } from './alert-query.ts'

export function EditAlert({ alert, onClose }: { alert: Alert; onClose: () => void }) {
  const queryClient = useQueryClient()
  const [form, setForm] = useState(() => formOf(alert))
  const change = useMutation({
    mutationFn: (body: AlertUpdate) => ledger.alerts.update(alert.id, body),
    onSuccess: () => refreshAlerts(queryClient),
    // Drop the target from the cache as soon as the dialog closes.
    gcTime: 0,
  })
  function submit(event: FormEvent) {
    event.preventDefault()
    const target = form.target.trim()
    change.mutate({ ...rulesOf(form), ...(target !== '' && { target }) }, { onSuccess: onClose })
  }
  return (
    <Dialog title="Edit alert" onClose={onClose}>
      <form className="form" onSubmit={submit}>
        <AlertFields
          channel={alert.channel}
          form={form}
          onChange={(changes) => setForm((current) => ({ ...current, ...changes }))}
          isEdit
        />
        <FormFooter mutation={change} labels={labelsFor(alert.channel)} submitLabel="Save" onCancel={onClose} />
      </form>
    </Dialog>
  )
}
