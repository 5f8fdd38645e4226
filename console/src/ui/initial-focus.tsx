import type { ReactNode } from 'react'

/**
 * For the `ref` of the element that gets the focus when a dialog opens. `showModal` looks for the `autofocus` attribute,
 * which React's `autoFocus` does not set.
 */
export function focusOnOpen(element: HTMLElement | null): void {
  element?.setAttribute('autofocus', '')
}

/**
 * Takes the initial focus of a dialog that shows a secret once. With the focus on a button, one Enter too many would
 * close the dialog before the secret is read.
 */
export function InitialFocus({ children }: { children: ReactNode }) {
  return (
    <div className="initial-focus" tabIndex={-1} ref={focusOnOpen}>
      {children}
    </div>
  )
}
