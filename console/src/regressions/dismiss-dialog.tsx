import { useQueryClient } from '@tanstack/react-query'
import { type ReactNode, useState } from 'react'
import { useMutation } from '../mutation.ts'
import { focusOnOpen } from '../ui/dialog.tsx'
import { Field } from '../ui/field.tsx'
import { FormDialog } from '../ui/form-dialog.tsx'

const labels = { note: 'Reason' }

interface Props {
  what: 'regression' | 'shift'
  dismiss: (body: { note: string }) => Promise<unknown>
  onClose: () => void
  /** What dismissing it means. */
  children: ReactNode
}

/** A button that asks why a regression or a shift is accepted. */
export function Dismiss(props: Omit<Props, 'onClose'>) {
  const [isAsking, setIsAsking] = useState(false)
  return (
    <>
      <button type="button" className="text-button" onClick={() => setIsAsking(true)}>
        Dismiss
      </button>
      {isAsking && <DismissDialog {...props} onClose={() => setIsAsking(false)} />}
    </>
  )
}

function DismissDialog({ what, dismiss, onClose, children }: Props) {
  const queryClient = useQueryClient()
  const [note, setNote] = useState('')
  const dismissal = useMutation({
    mutationFn: () => dismiss({ note: note.trim() }),
    // Also the prompt and the list of prompts show open regressions.
    onSuccess: () => queryClient.invalidateQueries({ predicate: ({ queryKey }) => queryKey[0] !== 'session' }),
  })
  return (
    <FormDialog
      title={`Dismiss this ${what}?`}
      mutation={dismissal}
      labels={labels}
      submitLabel="Dismiss"
      onSubmit={() => dismissal.mutate(undefined, { onSuccess: onClose })}
      onClose={onClose}
    >
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
    </FormDialog>
  )
}
