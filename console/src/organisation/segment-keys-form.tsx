import { type FormEvent, type ReactNode, useId, useState } from 'react'
import { Button } from '../ui/button.tsx'
import { FormError } from '../ui/form-error.tsx'

interface Props {
  label: string
  /** The declared keys. */
  keys: string[]
  maxKeys: number
  mutation: { error: unknown; isPending: boolean; isSuccess: boolean }
  onSave: (keys: string[]) => void
  /** More buttons. */
  children?: ReactNode
}

/** One key per line: a key of the metadata may contain anything else, such as commas. */
export function SegmentKeysForm({ label, keys, maxKeys, mutation, onSave, children }: Props) {
  const id = useId()
  const [text, setText] = useState(keys.join('\n'))
  const entered = text.split('\n').filter((line) => line.trim() !== '')
  const isChanged = JSON.stringify(entered) !== JSON.stringify(keys)
  function submit(event: FormEvent) {
    event.preventDefault()
    onSave(entered)
  }
  return (
    <form className="segment-keys" onSubmit={submit}>
      <div className="field">
        <label htmlFor={id}>{label}</label>
        <textarea
          id={id}
          aria-describedby={`${id}-hint`}
          rows={Math.max(3, Math.min(maxKeys, entered.length + 1))}
          spellCheck={false}
          value={text}
          placeholder={'model\nlocale'}
          onChange={(event) => setText(event.target.value)}
        />
        <p className="field-hint" id={`${id}-hint`}>
          One key of the metadata per line, up to {maxKeys}.
        </p>
      </div>
      <FormError error={mutation.error} labels={{ keys: label }} />
      <div className="form-actions">
        <span role="status" className="muted">
          {mutation.isSuccess && !isChanged ? 'Saved.' : ''}
        </span>
        {children}
        <Button type="submit" kind="primary" busy={mutation.isPending} disabled={!isChanged}>
          Save segments
        </Button>
      </div>
    </form>
  )
}
