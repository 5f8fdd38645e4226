import { useEffect, useRef } from 'react'

/** What the shortcuts do, as the list of them says it. */
export const shortcuts = [
  { keys: ['Ctrl', 'K'], does: 'Search prompts, changes, pages and actions' },
  { keys: ['j'], does: 'Go to the next row of a list, and Enter opens it' },
  { keys: ['k'], does: 'Go to the previous row' },
  { keys: ['n'], does: 'Go to the next change of a diff' },
  { keys: ['p'], does: 'Go to the previous change' },
  { keys: ['Esc'], does: 'Close a dialog, an explanation or the selected change' },
  { keys: ['?'], does: 'Show these shortcuts' },
]

/** Calls a function when a key is pressed outside of fields and dialogs; null for none. */
export function useShortcut(key: string, action: (() => void) | null): void {
  const latest = useRef(action)
  latest.current = action
  const isActive = action !== null
  useEffect(() => {
    if (!isActive) return
    const listen = (event: KeyboardEvent) => {
      if (event.key !== key || !isFree(event)) return
      event.preventDefault()
      latest.current?.()
    }
    document.addEventListener('keydown', listen)
    return () => document.removeEventListener('keydown', listen)
  }, [key, isActive])
}

/** Whether a key is not meant for a field, a dialog or the browser. */
function isFree({ target, ctrlKey, metaKey, altKey, defaultPrevented }: KeyboardEvent): boolean {
  if (defaultPrevented || ctrlKey || metaKey || altKey) return false
  if (isDialogOpen()) return false
  return !(target as Element).closest('input, textarea, select, [contenteditable]')
}

export function isDialogOpen(): boolean {
  return document.querySelector('dialog[open]') !== null
}
