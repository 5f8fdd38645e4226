import type { ReactNode } from 'react'
import { Button } from './button.tsx'
import { Dialog } from './dialog.tsx'
import { FormError, type Labels } from './form-error.tsx'

interface Props {
  title: string
  /** The mutation that submitting the form starts. */
  mutation: { error: unknown; isPending: boolean }
  labels: Labels
  submitLabel: string
  /** Said while the mutation runs, if that takes a while. */
  progress?: string
  onSubmit: () => void
  onClose: () => void
  children: ReactNode
  /** Below the form. */
  footer?: ReactNode
}

/** A form in a dialog. It ends with the error of the last attempt, Cancel and Submit. */
export function FormDialog(props: Props) {
  const { title, mutation, labels, submitLabel, progress, onSubmit, onClose, children, footer } = props
  return (
    <Dialog title={title} onClose={onClose}>
      <form
        className="form"
        onSubmit={(event) => {
          event.preventDefault()
          onSubmit()
        }}
      >
        {children}
        <FormError error={mutation.error} labels={labels} />
        <div className="form-actions">
          {progress !== undefined && (
            <span className="form-status" role="status">
              {mutation.isPending && progress}
            </span>
          )}
          <Button onClick={onClose}>Cancel</Button>
          <Button type="submit" kind="primary" busy={mutation.isPending}>
            {submitLabel}
          </Button>
        </div>
      </form>
      {footer}
    </Dialog>
  )
}
