import { Field } from '../ui/field.tsx'

interface Props {
  label: string
  hint: string
  value: string
  onChange: (value: string) => void
}

/** Whether git fetches the URL over ssh, with a key instead of a token. */
export function isSsh(url: string): boolean {
  return /^(ssh:\/\/|[^/:]+@[^/:]+:)/.test(url.trim())
}

export function SshKeyField({ label, hint, value, onChange }: Props) {
  return (
    <Field label={label} hint={hint}>
      {(control) => (
        <textarea
          {...control}
          rows={3}
          autoComplete="off"
          spellCheck={false}
          value={value}
          onChange={({ target }) => onChange(target.value)}
        />
      )}
    </Field>
  )
}
