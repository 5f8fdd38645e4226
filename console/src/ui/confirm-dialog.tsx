import type { ReactNode } from 'react'
import { Button } from './button.tsx'
import { Dialog, focusOnOpen } from './dialog.tsx'
import { FormError } from './form-error.tsx'

interface Props {
  title: string
  confirmLabel: string
  /** `primary` for what can be undone. */
  confirmKind?: 'danger' | 'primary'
  /** The mutation that `onConfirm` starts. */
  mutation: { error: unknown; isPending: boolean }
  onConfirm: () => void
  onClose: () => void
  children: ReactNode
}

/** Asks before something that cannot be undone. Cancel has the focus, so Enter alone does no harm. */
export function ConfirmDialog(props: Props) {
  const { title, confirmLabel, confirmKind = 'danger', mutation, onConfirm, onClose, children } = props
  return (
    <Dialog title={title} onClose={onClose}>
      <div className="form">
        {children}
        <FormError error={mutation.error} />
        <div className="form-actions">
          <button type="button" className="button plain" ref={focusOnOpen} onClick={onClose}>
            Cancel
          </button>
          <Button kind={confirmKind} busy={mutation.isPending} onClick={onConfirm}>
            {confirmLabel}
          </Button>
        </div>
      </div>
    </Dialog>
  )
}
