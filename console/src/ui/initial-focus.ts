/**
 * For the `ref` of the element that gets the focus when a dialog opens. `showModal` looks for the `autofocus` attribute,
 * which React's `autoFocus` does not set.
 */
export function focusOnOpen(element: HTMLElement | null): void {
  element?.setAttribute('autofocus', '')
}
