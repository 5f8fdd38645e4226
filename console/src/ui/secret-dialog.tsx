import { type ReactNode, useState } from 'react'
import { Button } from './button.tsx'
import { CopyField } from './copy-field.tsx'
import { Dialog } from './dialog.tsx'
import { focusOnOpen } from './initial-focus.ts'
import { Notice } from './notice.tsx'

interface Props {
  title: string
  label: string
  secret: string
  onClose: () => void
  children?: ReactNode
}

/** Shows a secret once. Closing it asks first, unless the secret was copied: Escape alone must not lose it. */
export function SecretDialog({ title, label, secret, onClose, children }: Props) {
  const [isCopied, setIsCopied] = useState(false)
  const [isAsking, setIsAsking] = useState(false)
  const close = () => (isCopied || isAsking ? onClose() : setIsAsking(true))
  return (
    <Dialog title={title} onClose={close}>
      <div className="form">
        <div className="result-lead" tabIndex={-1} ref={focusOnOpen}>
          <Notice tone="caution">Copy the secret now. It will not be shown again.</Notice>
        </div>
        <CopyField label={label} value={secret} onCopy={() => setIsCopied(true)} />
        {children}
        {isAsking && (
          <div role="alert">
            <Notice tone="bad">
              The secret is not copied yet. Without it, you have to rotate it to get a new one.
            </Notice>
          </div>
        )}
        <div className="form-actions">
          {isAsking && <Button onClick={() => setIsAsking(false)}>Back</Button>}
          <Button kind={isAsking ? 'danger' : 'primary'} onClick={close}>
            {isAsking ? 'Close anyway' : 'Done'}
          </Button>
        </div>
      </div>
    </Dialog>
  )
}
