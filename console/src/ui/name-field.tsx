import { Field } from './field.tsx'
import { focusOnOpen } from './initial-focus.ts'

interface Props {
  label: string
  hint: string
  value: string
  onChange: (name: string) => void
}

/** The required first field of a dialog. */
export function NameField({ label, hint, value, onChange }: Props) {
  return (
    <Field label={label} hint={hint}>
      {(control) => (
        <input
          {...control}
          ref={focusOnOpen}
          required
          autoComplete="off"
          value={value}
          onChange={({ target }) => onChange(target.value)}
        />
      )}
    </Field>
  )
}
