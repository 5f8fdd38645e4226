import type { Regression } from '@promptledger/client'
import { useMutation, useQueryClient } from '@tanstack/react-query'
import { type FormEvent, useState } from 'react'
import { ledger } from '../ledger.ts'
import { Dialog } from '../ui/dialog.tsx'
import { Field } from '../ui/field.tsx'
import { FormFooter } from '../ui/form-footer.tsx'
import { focusOnOpen } from '../ui/initial-focus.ts'

const labels = { note: 'Reason' }

export function DismissRegression({ regression, onClose }: { regression: Regression; onClose: () => void }) {
  const queryClient = useQueryClient()
  const [note, setNote] = useState('')
  const dismissal = useMutation({
    mutationFn: () => ledger.regressions.dismiss(regression.prompt.id, regression.id, { note: note.trim() }),
    // Also the prompt and the list of prompts show open regressions.
    onSuccess: () => queryClient.invalidateQueries({ predicate: ({ queryKey }) => queryKey[0] !== 'session' }),
  })
  function submit(event: FormEvent) {
    event.preventDefault()
    dismissal.mutate(undefined, { onSuccess: onClose })
  }
  return (
    <Dialog title="Dismiss this regression?" onClose={onClose}>
      <form className="form" onSubmit={submit}>
        <p>
          For a loss that you accept. The same change does not open a regression again. People are not told, but open
          incidents in PagerDuty are resolved.
        </p>
        <Field label={labels.note} hint="Shown with the regression, and in the audit log.">
          {(control) => (
            <textarea
              {...control}
              ref={focusOnOpen}
              required
              rows={3}
              value={note}
              onChange={({ target }) => setNote(target.value)}
            />
          )}
        </Field>
        <FormFooter mutation={dismissal} labels={labels} submitLabel="Dismiss" onCancel={onClose} />
      </form>
    </Dialog>
  )
}
