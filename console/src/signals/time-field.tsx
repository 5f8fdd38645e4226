import { useId } from 'react'
import { IsoInput } from '../ui/iso-input.tsx'
import { localTimeText, parseLocalTime } from '../ui/iso-time.ts'

interface Props {
  label: string
  /** The time in the URL: ISO 8601 in UTC, so a shared link means the same instant in every time zone. */
  at: string | null
  onChange: (at: string | null) => void
}

/** A date and time in the reader's time zone. */
export function TimeField({ label, at, onChange }: Props) {
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
