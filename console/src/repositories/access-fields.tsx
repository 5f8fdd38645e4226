import type { ReactNode, RefCallback } from 'react'
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

interface LineProps extends Omit<Props, 'hint'> {
  hint: ReactNode
  error?: string | undefined
  required?: boolean
  placeholder?: string
  ref?: RefCallback<HTMLInputElement>
}

/** One line that browsers neither complete nor correct: a URL, a pattern, a key. */
export function LineField({ label, hint, error, value, onChange, ...input }: LineProps) {
  return (
    <Field label={label} hint={hint} error={error}>
      {(control) => (
        <input
          {...control}
          {...input}
          autoComplete="off"
          spellCheck={false}
          value={value}
          onChange={({ target }) => onChange(target.value)}
        />
      )}
    </Field>
  )
}

export function TokenField({ label, hint, value, onChange }: Props) {
  return (
    <Field label={label} hint={hint}>
      {(control) => (
        <input
          {...control}
          type="password"
          autoComplete="off"
          value={value}
          onChange={({ target }) => onChange(target.value)}
        />
      )}
    </Field>
  )
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
