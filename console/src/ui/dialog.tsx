import { X } from 'lucide-react'
import { type ReactNode, useId, useLayoutEffect, useRef } from 'react'
import { UntrustedText } from './untrusted-text.tsx'

interface Props {
  title: string
  onClose: () => void
  children: ReactNode
}

/** Open while mounted. The browser traps the focus inside and restores it on close. */
export function Dialog({ title, onClose, children }: Props) {
  const dialog = useRef<HTMLDialogElement>(null)
  const titleId = useId()
  // A layout effect closes the dialog before it leaves the DOM. Once removed, it could no longer restore the focus.
  useLayoutEffect(() => {
    const element = dialog.current
    element?.showModal()
    return () => element?.close()
  }, [])
  return (
    <dialog
      ref={dialog}
      className="dialog"
      aria-labelledby={titleId}
      onCancel={(event) => {
        event.preventDefault()
        onClose()
      }}
      // Browsers let a page cancel the first Escape only, and close the dialog on the second. Whether it closes is up to `onClose`.
      onClose={() => {
        if (dialog.current === null) return
        dialog.current.showModal()
        onClose()
      }}
    >
      <header>
        <h2 id={titleId}>
          <UntrustedText text={title} />
        </h2>
        <button type="button" className="icon-button" aria-label="Close" onClick={onClose}>
          <X aria-hidden="true" />
        </button>
      </header>
      {children}
    </dialog>
  )
}

/**
 * For the `ref` of the element that gets the focus when a dialog opens. `showModal` looks for the `autofocus` attribute,
 * which React's `autoFocus` does not set.
 */
export function focusOnOpen(element: HTMLElement | null): void {
  element?.setAttribute('autofocus', '')
}
