import { type ComponentProps, type ReactNode, useId } from 'react'
import { focusOnOpen } from './dialog.tsx'

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

interface InputProps extends Omit<ComponentProps<'input'>, 'value' | 'onChange'>, Omit<Props, 'children'> {
  value: string
  onChange: (value: string) => void
}

function InputField({ label, hint, error, onChange, ...input }: InputProps) {
  return (
    <Field label={label} hint={hint} error={error}>
      {(control) => <input {...control} {...input} onChange={({ target }) => onChange(target.value)} />}
    </Field>
  )
}

/** One line that browsers neither complete nor correct: a URL, a pattern, a key. */
export function LineField(props: InputProps) {
  return <InputField autoComplete="off" spellCheck={false} {...props} />
}

/** The required first field of a dialog. */
export function NameField(props: InputProps) {
  return <InputField ref={focusOnOpen} required autoComplete="off" {...props} />
}

/** A whole number. */
export function NumberField(props: InputProps) {
  return <InputField type="number" inputMode="numeric" required step={1} {...props} />
}

/** A number on a scale. */
export function ScoreField(props: InputProps) {
  return <InputField type="number" step="any" {...props} />
}

interface CheckboxProps {
  checked: boolean
  onChange: (checked: boolean) => void
  className?: string
  children: ReactNode
}

export function Checkbox({ checked, onChange, className = 'checkbox-line', children }: CheckboxProps) {
  return (
    <label className={className}>
      <input type="checkbox" checked={checked} onChange={({ target }) => onChange(target.checked)} />
      {children}
    </label>
  )
}

interface RoleProps<Role extends string> {
  roles: { role: Role; description: string }[]
  role: Role
  onChange: (role: Role) => void
}

export function RoleField<Role extends string>({ roles, role: selected, onChange }: RoleProps<Role>) {
  const name = useId()
  return (
    <fieldset className="role-field">
      <legend>Role</legend>
      {roles.map(({ role, description }) => (
        <label key={role}>
          <input type="radio" name={name} value={role} checked={role === selected} onChange={() => onChange(role)} />
          <span>
            <strong className="role-name">{role}</strong>
            <span className="muted">{description}</span>
          </span>
        </label>
      ))}
    </fieldset>
  )
}
