import { Check, Copy as CopyIcon } from 'lucide-react'
import { useId, useRef, useState } from 'react'
import { Button } from './button.tsx'

/** A text to take along, with a button that copies it. */
export function Copy({ label, text }: { label: string; text: string }) {
  const [copied, setCopied] = useState(false)
  const input = useRef<HTMLInputElement>(null)
  const id = useId()
  async function copy() {
    // Pages that came over plain HTTP have no clipboard; then it is at least selected.
    input.current?.select()
    if (navigator.clipboard === undefined) return
    await navigator.clipboard.writeText(text)
    setCopied(true)
    setTimeout(() => setCopied(false), 2_000)
  }
  return (
    <div className="copy">
      <label htmlFor={id}>{label}</label>
      <div>
        <input id={id} ref={input} readOnly value={text} onFocus={(event) => event.currentTarget.select()} />
        <Button onClick={copy} aria-label={`Copy ${label}`}>
          {copied ? <Check aria-hidden="true" /> : <CopyIcon aria-hidden="true" />}
          <span aria-live="polite">{copied ? 'Copied' : 'Copy'}</span>
        </Button>
      </div>
    </div>
  )
}
