/**
 * @typedef {{ organisation: { name: string }, key: { name: string, role: string, hint: string } }} Session
 */

/** @type {Promise<Session | null> | null} */
let current = null

/**
 * Who the requests of this page are sent as: the session of the console. Null when signed out. Asked once, and again after
 * `forgetSession`.
 */
export function currentSession() {
  current ??= ask()
  return current
}

export function forgetSession() {
  current = null
}

/** @returns {Promise<Session | null>} */
async function ask() {
  const response = await fetch('/api/v1/session')
  if (response.ok) return (await response.json()).data
  forgetSession()
  return null
}
