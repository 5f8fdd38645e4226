/**
 * For the `ref` of what has the focus when a dialog opens. React's `autoFocus` comes too early for that: a dialog looks for
 * the attribute, which React leaves out.
 */
export function firstFocus(element: HTMLElement | null): void {
  element?.setAttribute('autofocus', '')
}
