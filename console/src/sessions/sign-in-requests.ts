import { observedFetch } from '../connection.ts'

/** What the service offers. */
export interface SignInOffer {
  provider: { name: string } | null
  email: boolean
}

/** Sends a request that is for the console only, and not part of the API's client. */
export async function sendSignIn<T>(method: 'GET' | 'POST' | 'PUT', path: string, body?: object): Promise<T> {
  const response = await observedFetch(`/api/v1${path}`, {
    method,
    ...(body && { body: JSON.stringify(body), headers: { 'Content-Type': 'application/json' } }),
  })
  const { data, error } = await response.json()
  if (!response.ok) throw new Error(error.message)
  return data
}

export async function goToProvider(invitation: string | null): Promise<void> {
  const { pathname, search } = window.location
  const { url } = await sendSignIn<{ url: string }>('POST', '/sign-in', { return_to: pathname + search, invitation })
  window.location.assign(url)
  // The page stays busy until it is left.
  return new Promise(() => {})
}

export function sendLink(email: string, invitation: string | null): Promise<null> {
  return sendSignIn('POST', '/sign-in/email', { email, invitation })
}

export const failures: Record<string, string> = {
  state: 'That sign-in could not be completed: it was started in another window, or finished before. Sign in again.',
  expired: 'Signing in took more than 10 minutes. Sign in again.',
  denied: 'The provider did not let you in.',
  unverified: 'The provider has not verified your email address. Verify it there, then sign in again.',
  domain: 'Addresses of your domain may not sign in here.',
  disabled: 'An admin has disabled your access.',
  unknown: 'You are in no organisation here yet. Ask an admin for an invitation.',
  other_account: 'Your address belongs to another account here. Ask an admin.',
  invitation: 'The invitation has expired, was used before, or is for another address. Ask for a new one.',
  setup: 'Sign-in is not set up right. An admin who signs in with a key finds out why on the page People.',
  busy: 'Too many people are signing in. Try again in a minute, or sign in with a key.',
}
