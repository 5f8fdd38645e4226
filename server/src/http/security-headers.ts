import type { FastifyInstance } from 'fastify'

const year = 31_536_000

/** Headers of every response: browsers take each for what it says it is, and come back over TLS only. */
export function commonHeaders(requestId: string, publicUrl: string): Record<string, string> {
  const headers = { 'x-request-id': requestId, 'x-content-type-options': 'nosniff' }
  return isHttps(publicUrl) ? { ...headers, 'strict-transport-security': `max-age=${year}` } : headers
}

/** Headers of what a browser may show as a page: other sites cannot frame it, hold on to its window or see where a link led from. */
export const pageHeaders = {
  'X-Frame-Options': 'DENY',
  'Referrer-Policy': 'no-referrer',
  'Cross-Origin-Opener-Policy': 'same-origin',
  'Permissions-Policy': 'camera=(), geolocation=(), microphone=(), payment=(), usb=()',
}

/** Sets them on every response of `app`, errors and files included. A page may replace the policy by one that allows more. */
export function usePageHeaders(app: FastifyInstance, policy: string): void {
  const headers = { ...pageHeaders, 'Content-Security-Policy': policy }
  app.addHook('onRequest', (_request, reply, done) => {
    reply.headers(headers)
    done()
  })
}

export function isHttps(publicUrl: string): boolean {
  return publicUrl.startsWith('https:')
}
