import type { ReactNode } from 'react'
import { Button } from './button.tsx'
import { Dialog, focusOnOpen } from './dialog.tsx'

interface Props {
  title: string
  /** Comes first, and takes the initial focus. */
  lead: ReactNode
  onClose: () => void
  children: ReactNode
}

/**
 * Shows a result, such as a secret that is shown once. With the initial focus on a button, one Enter too many would close the
 * dialog before the secret is read.
 */
export function ResultDialog({ title, lead, onClose, children }: Props) {
  return (
    <Dialog title={title} onClose={onClose}>
      <div className="form">
        <div className="result-lead" tabIndex={-1} ref={focusOnOpen}>
          {lead}
        </div>
        {children}
        <div className="form-actions">
          <Button kind="primary" onClick={onClose}>
            Done
          </Button>
        </div>
      </div>
    </Dialog>
  )
}
