import { Check, Copy } from 'lucide-react'
import { useId, useRef, useState } from 'react'
import { Button } from './button.tsx'
import { copyText } from './clipboard.ts'
import { UntrustedText, visibleText } from './untrusted-text.tsx'

const copiedNoticeMs = 2_000

interface Props {
  label: string
  value: string
  /** Called once the value is in the clipboard. */
  onCopy?: () => void
}

/** A read-only value with a button that copies it. */
export function CopyField({ label, value, onCopy }: Props) {
  const [isCopied, setIsCopied] = useState(false)
  const input = useRef<HTMLInputElement>(null)
  const id = useId()
  function confirmCopy() {
    setIsCopied(true)
    onCopy?.()
    setTimeout(() => setIsCopied(false), copiedNoticeMs)
  }
  async function copy() {
    const isDone = await copyText(value)
    // If the browser refuses, Ctrl+C still works on the selection.
    input.current?.select()
    if (isDone) confirmCopy()
  }
  return (
    <div className="copy-field">
      <label htmlFor={id}>
        <UntrustedText text={label} />
      </label>
      <div>
        <input
          id={id}
          ref={input}
          readOnly
          value={value}
          onFocus={(event) => event.currentTarget.select()}
          onCopy={() => window.getSelection()?.toString() === value && confirmCopy()}
        />
        <Button onClick={copy} aria-label={`Copy ${visibleText(label)}`}>
          {isCopied ? <Check aria-hidden="true" /> : <Copy aria-hidden="true" />}
          <span aria-live="polite">{isCopied ? 'Copied' : 'Copy'}</span>
        </Button>
      </div>
    </div>
  )
}
