import { element } from './element.js'

/**
 * Asks before something that cannot be undone. Cancel has the focus, so Enter alone does no harm.
 *
 * @param {{ title: string, request: string, confirmLabel: string }} question
 * @returns {Promise<boolean>}
 */
export function isConfirmed({ title, request, confirmLabel }) {
  const cancel = element('button', { type: 'button' }, 'Cancel')
  const confirm = element('button', { type: 'button', class: 'loss' }, confirmLabel)
  const dialog = element(
    'dialog',
    { 'aria-labelledby': 'confirm-title' },
    element('h2', { id: 'confirm-title' }, title),
    element('p', {}, element('code', {}, request)),
    element('p', {}, 'This cannot be undone.'),
    element('p', { class: 'actions' }, cancel, confirm),
  )
  document.body.append(dialog)
  dialog.showModal()
  cancel.focus()
  cancel.addEventListener('click', () => dialog.close())
  confirm.addEventListener('click', () => dialog.close('confirmed'))
  return new Promise((resolve) => {
    dialog.addEventListener('close', () => {
      dialog.remove()
      resolve(dialog.returnValue === 'confirmed')
    })
  })
}
