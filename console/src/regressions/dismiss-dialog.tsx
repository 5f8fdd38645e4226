import { useMutation, useQueryClient } from '@tanstack/react-query'
import { type FormEvent, type ReactNode, useState } from 'react'
import { Dialog } from '../ui/dialog.tsx'
import { Field } from '../ui/field.tsx'
import { FormFooter } from '../ui/form-footer.tsx'
import { focusOnOpen } from '../ui/initial-focus.ts'

const labels = { note: 'Reason' }

interface Props {
  what: 'regression' | 'shift'
  dismiss: (body: { note: string }) => Promise<unknown>
  onClose: () => void
  /** What dismissing it means. */
  children: ReactNode
}

/** Asks why a regression or a shift is accepted. */
export function DismissDialog({ what, dismiss, onClose, children }: Props) {
  const queryClient = useQueryClient()
  const [note, setNote] = useState('')
  const dismissal = useMutation({
    mutationFn: () => dismiss({ note: note.trim() }),
    // Also the prompt and the list of prompts show open regressions.
    onSuccess: () => queryClient.invalidateQueries({ predicate: ({ queryKey }) => queryKey[0] !== 'session' }),
  })
  function submit(event: FormEvent) {
    event.preventDefault()
    dismissal.mutate(undefined, { onSuccess: onClose })
  }
  return (
    <Dialog title={`Dismiss this ${what}?`} onClose={onClose}>
      <form className="form" onSubmit={submit}>
        <p>{children}</p>
        <Field label={labels.note} hint={`Shown with the ${what}, and in the audit log.`}>
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
