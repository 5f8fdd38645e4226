import { type ReactNode, useId } from 'react'

interface Props {
  label: string
  hint?: ReactNode
  /** Renders the control with the attributes that tie it to its label and hint. */
  children: (control: { id: string; 'aria-describedby': string | undefined }) => ReactNode
}

/** A form control with its label and hint. */
export function Field({ label, hint, children }: Props) {
  const id = useId()
  const hintId = hint === undefined ? undefined : `${id}-hint`
  return (
    <div className="field">
      <label htmlFor={id}>{label}</label>
      {children({ id, 'aria-describedby': hintId })}
      {hint !== undefined && (
        <p className="field-hint" id={hintId}>
          {hint}
        </p>
      )}
    </div>
  )
}
