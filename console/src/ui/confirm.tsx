import type { ReactNode } from 'react'
import { Button } from './button.tsx'
import { Dialog } from './dialog.tsx'
import { firstFocus } from './first-focus.ts'
import { Refusal } from './refusal.tsx'

interface Props {
  title: string
  /** What the button that does it says. */
  act: string
  /** What is going on with it, as a mutation tells. */
  state: { error: unknown; isPending: boolean }
  onConfirm: () => void
  onClose: () => void
  children: ReactNode
}

/** Asks before something that cannot be undone. */
export function Confirm({ title, act, state, onConfirm, onClose, children }: Props) {
  return (
    <Dialog title={title} onClose={onClose}>
      <div className="form">
        {children}
        <Refusal error={state.error} />
        <div className="form-end">
          <button type="button" className="button plain" ref={firstFocus} onClick={onClose}>
            Cancel
          </button>
          <Button kind="danger" busy={state.isPending} onClick={onConfirm}>
            {act}
          </Button>
        </div>
      </div>
    </Dialog>
  )
}
