import { useEffect, useId, useRef, useState } from 'react'

interface Props {
  label: string
  placeholder: string
  text: string
  onType: (text: string) => void
  /** On Enter. `before` is the text from before the user began to type. */
  onSubmit: (text: string, before: string) => void
}

const typingDelayMs = 400

/** A filter on text, applied shortly after the last key, or at once with Enter. */
export function TextFilter({ label, placeholder, text: current, onType, onSubmit }: Props) {
  const id = useId()
  const [text, setText] = useState(current)
  const before = useRef(current)
  useEffect(() => setText(current), [current])
  useEffect(() => {
    if (text === current) return
    const timer = setTimeout(() => onType(text), typingDelayMs)
    return () => clearTimeout(timer)
  }, [text, current, onType])
  return (
    <form
      className="filter-field"
      onSubmit={(event) => {
        event.preventDefault()
        onSubmit(text, before.current)
        before.current = text
      }}
    >
      <label htmlFor={id}>{label}</label>
      <input
        id={id}
        type="search"
        placeholder={placeholder}
        value={text}
        onFocus={() => {
          before.current = current
        }}
        onChange={(event) => setText(event.target.value)}
      />
    </form>
  )
}
