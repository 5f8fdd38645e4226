import { useEffect, useId, useState } from 'react'

interface Props {
  label: string
  placeholder: string
  text: string
  onChange: (text: string) => void
  /** Whether what is typed so far can be searched for. */
  isUsable?: (text: string) => boolean
}

const typingDelayMs = 400
const always = () => true

/** A filter on text, applied shortly after the last key. */
export function TextFilter({ label, placeholder, text: current, onChange, isUsable = always }: Props) {
  const id = useId()
  const [text, setText] = useState(current)
  useEffect(() => setText(current), [current])
  useEffect(() => {
    if (text === current || !(text === '' || isUsable(text))) return
    const timer = setTimeout(() => onChange(text), typingDelayMs)
    return () => clearTimeout(timer)
  }, [text, current, onChange, isUsable])
  return (
    <div className="filter-field">
      <label htmlFor={id}>{label}</label>
      <input
        id={id}
        type="search"
        placeholder={placeholder}
        value={text}
        onChange={(event) => setText(event.target.value)}
      />
    </div>
  )
}
