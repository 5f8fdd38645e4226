import type { ReactNode } from 'react'
import { Button } from './button.tsx'
import { FormError } from './form-error.tsx'

interface Props {
  /** The mutation that submitting the form starts. */
  mutation: { error: unknown; isPending: boolean }
  /** The label of each field, by its name in the API. */
  labels: Record<string, string>
  submitLabel: string
  onCancel: () => void
  /** Shown beside the buttons. */
  children?: ReactNode
}

/** The end of a form in a dialog: the error of the last attempt, Cancel and Submit. */
export function FormFooter({ mutation, labels, submitLabel, onCancel, children }: Props) {
  return (
    <>
      <FormError error={mutation.error} labels={labels} />
      <div className="form-actions">
        {children}
        <Button onClick={onCancel}>Cancel</Button>
        <Button type="submit" kind="primary" busy={mutation.isPending}>
          {submitLabel}
        </Button>
      </div>
    </>
  )
}
