import { isConfirmed } from './confirm.js'
import { element, visible } from './element.js'
import { formOf } from './form.js'
import { isDestructive, operations } from './operations.js'
import { showResponse } from './response.js'
import { currentSession, forgetSession } from './session.js'

/**
 * @typedef {import('./operations.js').Operation} Operation
 * @typedef {import('./session.js').Session} Session
 */

/** Adds "Try it" to every operation. The form is built when it is first opened. */
export function addForms() {
  for (const article of document.querySelectorAll('article[data-operation]')) {
    const content = element('div', {})
    const details = element('details', { class: 'try' }, element('summary', {}, 'Try it'), content)
    const id = article.getAttribute('data-operation') ?? ''
    details.addEventListener('toggle', async () => {
      if (details.open && content.childElementCount === 0) await fill(content, id)
    })
    article.querySelector('.endpoint')?.after(details)
  }
}

/**
 * @param {HTMLElement} content
 * @param {string} id
 */
async function fill(content, id) {
  content.replaceChildren(element('p', {}, 'Loading…'))
  try {
    const operation = (await operations()).get(id)
    if (operation === undefined) throw new Error('The service does not know this operation any more. Reload the page.')
    const needsKey = operation.security === undefined
    const session = needsKey ? await currentSession() : null
    if (needsKey && session === null) content.replaceChildren(...signInFirst(content, id))
    else content.replaceChildren(...tryForm(operation, session))
  } catch (error) {
    content.replaceChildren(retry(content, id, messageOf(error)))
  }
}

/**
 * @param {HTMLElement} content
 * @param {string} id
 */
function signInFirst(content, id) {
  const link = element('a', { href: '/sign-in' }, 'Sign in to the console')
  return [
    element('p', {}, 'You are signed out. Requests from this page use the session of the console. '),
    element('p', {}, link, ' with an API key, then come back.'),
    retry(content, id, ''),
  ]
}

/**
 * @param {HTMLElement} content
 * @param {string} id
 * @param {string} message
 */
function retry(content, id, message) {
  const button = element('button', { type: 'button' }, 'Try again')
  button.addEventListener('click', () => fill(content, id))
  return element('p', message === '' ? {} : { role: 'alert' }, message, ' ', button)
}

/**
 * @param {Operation} operation
 * @param {Session | null} session
 */
function tryForm(operation, session) {
  const { fields, read } = formOf(operation)
  const send = element('button', { type: 'submit' }, 'Send')
  const form = element('form', {}, element('p', {}, sentAs(operation, session)), ...fields, send)
  const result = element('div', { role: 'status', class: 'result' })
  form.addEventListener('submit', async (event) => {
    event.preventDefault()
    send.disabled = true
    result.replaceChildren()
    try {
      const { url, init } = read()
      if (isDestructive(operation) && !(await isConfirmed(question(operation, url, session)))) return
      const startedAt = performance.now()
      const response = await fetch(url, init)
      if (response.status === 401 || operation.path === '/api/v1/session') forgetSession()
      result.replaceChildren(...(await showResponse(response, startedAt)))
    } catch (error) {
      result.replaceChildren(element('p', { class: 'bad' }, messageOf(error)))
    } finally {
      send.disabled = false
    }
  })
  return [form, result]
}

/**
 * @param {Operation} operation
 * @param {Session | null} session
 */
function sentAs({ method }, session) {
  if (session === null) return 'Needs no key.'
  const { organisation, key } = session
  const who = visible(
    `Sent with your session: the ${key.role} key “${key.name}” (…${key.hint}) of ${organisation.name}.`,
  )
  return method === 'get' ? who : `${who} This changes real data.`
}

/**
 * @param {Operation} operation
 * @param {string} url
 * @param {Session | null} session
 */
function question({ method, summary }, url, session) {
  const where = session === null ? '' : ` in ${session.organisation.name}`
  const request = `${method.toUpperCase()} ${url}`
  return { title: visible(`${summary}${where}?`), request: visible(request), confirmLabel: summary }
}

/** @param {unknown} error */
function messageOf(error) {
  if (error instanceof TypeError) return 'The service could not be reached.'
  return error instanceof Error ? error.message : String(error)
}
