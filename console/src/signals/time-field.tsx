import { useEffect, useId, useState } from 'react'

interface Props {
  label: string
  /** The time in the URL: ISO 8601 in UTC, so a shared link means the same instant in every time zone. */
  at: string | null
  onChange: (at: string | null) => void
}

const typingDelayMs = 600

/** A date and time in the reader's time zone. */
export function TimeField({ label, at, onChange }: Props) {
  const id = useId()
  const initial = localText(at)
  const [text, setText] = useState(initial)
  useEffect(() => setText(initial), [initial])
  useEffect(() => {
    const next = parseLocal(text)
    if (text === initial || next === undefined) return
    const timer = setTimeout(() => onChange(next), typingDelayMs)
    return () => clearTimeout(timer)
  }, [text, initial, onChange])
  return (
    <div className="time-field">
      <label htmlFor={id}>{label}</label>
      <input id={id} type="datetime-local" value={text} onChange={(event) => setText(event.target.value)} />
    </div>
  )
}

/** The value of a `datetime-local` input, such as 2026-11-15T09:30. Seconds appear only if they are not zero. */
function localText(at: string | null): string {
  const time = new Date(at ?? '')
  if (Number.isNaN(time.getTime())) return ''
  const local = new Date(time.getTime() - time.getTimezoneOffset() * 60_000).toISOString()
  return local.slice(0, local.slice(17, 19) === '00' ? 16 : 19)
}

/** Null for an empty field; undefined while the year is still being typed. */
function parseLocal(text: string): string | null | undefined {
  if (text === '') return null
  const time = new Date(text)
  return time.getFullYear() >= 1970 && time.getFullYear() < 10_000 ? time.toISOString() : undefined
}
