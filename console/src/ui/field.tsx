import { type ReactNode, useId } from 'react'

interface Props {
  label: string
  hint?: ReactNode
  /** What is wrong with the value. */
  error?: string | undefined
  /** Renders the control with the attributes that tie it to its label and hint. */
  children: (control: Control) => ReactNode
}

interface Control {
  id: string
  'aria-describedby': string | undefined
  'aria-invalid': true | undefined
}

/** A form control with its label and hint. */
export function Field({ label, hint, error, children }: Props) {
  const id = useId()
  const hintId = hint === undefined ? undefined : `${id}-hint`
  const errorId = error === undefined ? undefined : `${id}-error`
  const describedBy = [errorId, hintId].filter(Boolean).join(' ') || undefined
  return (
    <div className="field">
      <label htmlFor={id}>{label}</label>
      {children({ id, 'aria-describedby': describedBy, 'aria-invalid': error === undefined ? undefined : true })}
      {error !== undefined && (
        <p className="form-error" id={errorId} role="alert">
          {error}
        </p>
      )}
      {hint !== undefined && (
        <p className="field-hint" id={hintId}>
          {hint}
        </p>
      )}
    </div>
  )
}
