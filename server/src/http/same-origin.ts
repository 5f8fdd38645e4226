import type { IncomingHttpHeaders } from 'node:http'

/** Whether the browser says that a page of this service sent the request; null if it sent no origin information. */
export function isSameOrigin(headers: IncomingHttpHeaders, publicUrl: string): boolean | null {
  const { 'sec-fetch-site': site, origin, host } = headers
  if (site !== undefined) return site === 'same-origin'
  if (origin === undefined) return null
  const sender = URL.parse(origin)
  if (sender === null) return false
  const own = URL.parse(publicUrl)
  if (sender.host === own?.host) return sender.origin === own.origin
  // Reached under a name other than PUBLIC_URL: a proxy may terminate TLS, so only the hosts can be compared.
  return sender.host === host?.toLowerCase()
}
