import type { ReactNode } from 'react'
import { Button } from './button.tsx'
import { Dialog } from './dialog.tsx'
import { FormError } from './form-error.tsx'
import { focusOnOpen } from './initial-focus.ts'

interface Props {
  title: string
  confirmLabel: string
  /** The mutation that `onConfirm` starts. */
  mutation: { error: unknown; isPending: boolean }
  onConfirm: () => void
  onClose: () => void
  children: ReactNode
}

/** Asks before something that cannot be undone. Cancel has the focus, so Enter alone does no harm. */
export function ConfirmDialog({ title, confirmLabel, mutation, onConfirm, onClose, children }: Props) {
  return (
    <Dialog title={title} onClose={onClose}>
      <div className="form">
        {children}
        <FormError error={mutation.error} />
        <div className="form-actions">
          <button type="button" className="button plain" ref={focusOnOpen} onClick={onClose}>
            Cancel
          </button>
          <Button kind="danger" busy={mutation.isPending} onClick={onConfirm}>
            {confirmLabel}
          </Button>
        </div>
      </div>
    </Dialog>
  )
}
