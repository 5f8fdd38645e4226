import { useEffect, useId, useState } from 'react'

interface Props {
  label: string
  /** As the address has it: ISO 8601, so that it is the same time for whoever the address is sent to. */
  at: string | null
  onChange: (at: string | null) => void
}

const pause = 600

/** A time in the reader's zone. */
export function TimeField({ label, at, onChange }: Props) {
  const id = useId()
  const said = localText(at)
  const [text, setText] = useState(said)
  useEffect(() => setText(said), [said])
  useEffect(() => {
    const next = instantOf(text)
    if (text === said || next === undefined) return
    const timer = setTimeout(() => onChange(next), pause)
    return () => clearTimeout(timer)
  }, [text, said, onChange])
  return (
    <div className="time-field">
      <label htmlFor={id}>{label}</label>
      <input id={id} type="datetime-local" value={text} onChange={(event) => setText(event.target.value)} />
    </div>
  )
}

/** As the control wants it, such as 2026-11-15T09:30; seconds only where there are some. */
function localText(at: string | null): string {
  const time = new Date(at ?? '')
  if (Number.isNaN(time.getTime())) return ''
  const local = new Date(time.getTime() - time.getTimezoneOffset() * 60_000).toISOString()
  return local.slice(0, local.slice(17, 19) === '00' ? 16 : 19)
}

/** Undefined while a year is still being typed. */
function instantOf(text: string): string | null | undefined {
  if (text === '') return null
  const time = new Date(text)
  return time.getFullYear() >= 1970 && time.getFullYear() < 10_000 ? time.toISOString() : undefined
}
