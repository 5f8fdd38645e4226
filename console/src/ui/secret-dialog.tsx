import { type ReactNode, useEffect, useRef, useState } from 'react'
import { Button } from './button.tsx'
import { CopyField } from './copy-field.tsx'
import { Dialog } from './dialog.tsx'
import { useLeaveGuard } from './leave-guard.ts'
import { Notice } from './notice.tsx'

interface Props {
  title: string
  /** What the secret is, in a sentence: `key`, `secret` or `link`. */
  noun?: 'key' | 'secret' | 'link'
  label: string
  secret: string
  /** What to do if it is lost, such as `create another key`. */
  recovery: string
  onClose: () => void
  /** Comes before the secret. */
  lead?: ReactNode
  children?: ReactNode
}

/**
 * Shows a secret once. Until it is copied, Escape, Close, Back and leaving the page ask first. The initial focus is on no button,
 * because one Enter too many would close the dialog before the secret is read.
 */
export function SecretDialog(props: Props) {
  const { title, noun = 'secret', label, secret, recovery, onClose, children } = props
  const [isCopied, setIsCopied] = useState(false)
  const [isAsking, setIsAsking] = useState(false)
  const lead = useRef<HTMLDivElement>(null)
  const ask = () => setIsAsking(true)
  function stay() {
    setIsAsking(false)
    // The button that had the focus goes away.
    lead.current?.focus()
  }
  useEffect(() => lead.current?.focus(), [])
  useLeaveGuard(!isCopied, ask)
  const close = isCopied ? onClose : ask
  return (
    // While the question is shown, Escape takes it back: a second Escape must not lose the secret either.
    <Dialog title={title} onClose={isAsking && !isCopied ? stay : close}>
      <div className="form">
        <div className="result-lead" tabIndex={-1} ref={lead}>
          {props.lead}
          <Notice tone="caution">Copy the {noun} now. It cannot be shown again.</Notice>
        </div>
        <CopyField label={label} value={secret} onCopy={() => setIsCopied(true)} />
        {children}
        {isAsking && !isCopied ? (
          <Question noun={noun} recovery={recovery} onStay={stay} onClose={onClose} />
        ) : (
          <div className="form-actions">
            <Button kind="primary" onClick={close}>
              Done
            </Button>
          </div>
        )}
      </div>
    </Dialog>
  )
}

interface QuestionProps {
  noun: string
  recovery: string
  onStay: () => void
  onClose: () => void
}

function Question({ noun, recovery, onStay, onClose }: QuestionProps) {
  return (
    <>
      <div role="alert" ref={(element) => element?.scrollIntoView({ block: 'nearest' })}>
        <Notice tone="bad">
          The {noun} is not copied yet, and it cannot be shown again. If you close this without it, you have to{' '}
          {recovery}.
        </Notice>
      </div>
      <div className="form-actions">
        <button type="button" className="button plain" ref={(element) => element?.focus()} onClick={onStay}>
          Back to the {noun}
        </button>
        <Button kind="danger" onClick={onClose}>
          Close anyway
        </Button>
      </div>
    </>
  )
}
