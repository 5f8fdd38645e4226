import { useId, useState } from 'react'
import { useDraft } from './draft.ts'
import { localTimeText, parseLocalTime } from './iso-time.ts'

interface Props {
  id?: string
  /** The text for the value in the URL. */
  value: string
  /** An example of the form, such as YYYY-MM-DD. */
  form: string
  /** Whether the text is a value. */
  isValid: (text: string) => boolean
  /** Called with a valid or an empty text. */
  onChange: (text: string) => void
}

/**
 * A date or time typed in ISO form. Browsers show their own date fields in the browser's locale, such as mm/dd/yyyy,
 * on a page that writes its dates otherwise.
 */
export function IsoInput({ id, value, form, isValid, onChange }: Props) {
  const [text, setText] = useDraft(value)
  const [isLeft, setIsLeft] = useState(false)
  const isWrong = isLeft && text !== '' && !isValid(text)
  function take(next: string) {
    if (next !== value && (next === '' || isValid(next))) onChange(next)
  }
  return (
    <>
      <input
        id={id}
        className="iso-input"
        size={form.length}
        maxLength={19}
        placeholder={form}
        autoComplete="off"
        spellCheck={false}
        aria-invalid={isWrong}
        value={text}
        onChange={({ target }) => {
          setText(target.value)
          setIsLeft(false)
          // A shorter text may still be on its way to a longer one: a date to a time.
          if (target.value === '' || target.value.length >= form.length) take(target.value)
        }}
        onBlur={() => {
          setIsLeft(true)
          take(text)
        }}
        onKeyDown={({ key }) => {
          if (key !== 'Enter') return
          setIsLeft(true)
          take(text)
        }}
      />
      {isWrong && (
        <span className="iso-error" role="alert">
          Use the form {form}
        </span>
      )}
    </>
  )
}

interface TimeFieldProps {
  label: string
  /** The time in the URL: ISO 8601 in UTC, so a shared link means the same instant in every time zone. */
  at: string | null
  onChange: (at: string | null) => void
}

/** A date and time in the reader's time zone. */
export function TimeField({ label, at, onChange }: TimeFieldProps) {
  const id = useId()
  const time = new Date(at ?? '')
  return (
    <div className="time-field">
      <label htmlFor={id}>{label}</label>
      <IsoInput
        id={id}
        form="YYYY-MM-DD hh:mm"
        value={Number.isNaN(time.getTime()) ? '' : localTimeText(time)}
        isValid={(text) => parseLocalTime(text) !== null}
        onChange={(text) => onChange(parseLocalTime(text)?.toISOString() ?? null)}
      />
    </div>
  )
}
