import { Check, Copy } from 'lucide-react'
import { type ReactNode, useEffect, useState } from 'react'
import { copyText } from './clipboard.ts'
import { UntrustedText, visibleText } from './untrusted-text.tsx'

const noticeMs = 2_000

interface Props {
  value: string
  /** What the button does, such as “Copy the prompt ID”. */
  label: string
  /** The visible text; only an icon without it. */
  children?: ReactNode
}

/** Copies a value, says so for two seconds, and announces it to screen readers. */
export function CopyButton({ value, label, children }: Props) {
  const [notice, setNotice] = useState('')
  useEffect(() => {
    if (notice === '') return
    const timer = setTimeout(() => setNotice(''), noticeMs)
    return () => clearTimeout(timer)
  }, [notice])
  async function copy() {
    setNotice((await copyText(value)) ? 'Copied' : 'Copying failed')
  }
  const name = visibleText(label)
  return (
    <span className="copy-button">
      <button
        type="button"
        className={children === undefined ? 'icon-button' : 'button plain'}
        aria-label={name}
        title={name}
        onClick={copy}
      >
        {notice === 'Copied' ? <Check aria-hidden="true" /> : <Copy aria-hidden="true" />}
        {children}
      </button>
      <span className="copy-notice" aria-live="polite">
        {notice}
      </span>
    </span>
  )
}

/** An ID with a button that copies it. `what` names it, such as `prompt ID`. */
export function CopyableId({ id, what }: { id: string | number; what: string }) {
  return (
    <span className="copyable-id">
      <code>
        <UntrustedText text={String(id)} />
      </code>
      <CopyButton value={String(id)} label={`Copy the ${what}`} />
    </span>
  )
}
