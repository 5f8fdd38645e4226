/** Copies a text; false if the browser refuses. */
export async function copyText(text: string): Promise<boolean> {
  try {
    // Browsers offer no clipboard over plain HTTP, which is common on a private network.
    if (navigator.clipboard === undefined) return copySelection(text)
    await navigator.clipboard.writeText(text)
    return true
  } catch {
    return copySelection(text)
  }
}

/**
 * Copies without the clipboard API. Browsers copy only what is selected, so a single character is: laying out a long text takes
 * seconds, after which they no longer allow it.
 */
function copySelection(text: string): boolean {
  const field = document.createElement('textarea')
  const focused = document.activeElement
  field.value = '.'
  field.readOnly = true
  field.className = 'visually-hidden'
  let isCopied = false
  const setText = (event: ClipboardEvent) => {
    event.preventDefault()
    event.clipboardData?.setData('text/plain', text)
    isCopied = event.clipboardData !== null
  }
  document.body.append(field)
  field.select()
  document.addEventListener('copy', setText)
  isCopied = document.execCommand('copy') && isCopied
  document.removeEventListener('copy', setText)
  field.remove()
  if (focused instanceof HTMLElement) focused.focus({ preventScroll: true })
  return isCopied
}
