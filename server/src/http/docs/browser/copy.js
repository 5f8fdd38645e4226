import { element } from './element.js'

const noticeMs = 2_000

/**
 * Adds a button to every example inside an element.
 *
 * @param {HTMLElement} root
 */
export function addCopyButtons(root) {
  for (const example of root.querySelectorAll('pre')) example.after(copyButton(example))
}

/**
 * @param {HTMLElement} example
 * @returns {HTMLElement}
 */
export function copyButton(example) {
  const notice = element('span', { 'aria-live': 'polite' })
  const button = element('button', { type: 'button' }, 'Copy')
  button.addEventListener('click', async () => {
    notice.textContent = (await copy(example)) ? 'Copied' : 'Selected. Press Ctrl+C to copy'
    setTimeout(() => notice.replaceChildren(), noticeMs)
  })
  return element('p', { class: 'copy' }, button, notice)
}

/**
 * Browsers offer no clipboard over plain HTTP. Selecting the text at least allows Ctrl+C.
 *
 * @param {HTMLElement} example
 */
async function copy(example) {
  try {
    await navigator.clipboard.writeText(example.textContent ?? '')
    return true
  } catch {
    getSelection()?.selectAllChildren(example)
    return false
  }
}
