import type { IncomingHttpHeaders } from 'node:http'

/** Whether the request comes from a page of this very service, as the browser says; null where it says nothing. */
export function isSameOrigin(headers: IncomingHttpHeaders, publicUrl: string): boolean | null {
  const { 'sec-fetch-site': site, origin, host } = headers
  if (site !== undefined) return site === 'same-origin'
  if (origin === undefined) return null
  const from = URL.parse(origin)
  if (from === null) return false
  const known = URL.parse(publicUrl)
  if (from.host === known?.host) return from.origin === known.origin
  // By another name than the public one, and whether a proxy does TLS in front of us is not known: the host has to do.
  return from.host === host?.toLowerCase()
}
