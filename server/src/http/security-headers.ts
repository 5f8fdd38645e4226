import type { FastifyInstance, FastifyReply } from 'fastify'

const year = 31_536_000

/** Headers of every response: browsers take each for what it says it is, and come back over TLS only. */
export function setSecurityHeaders(reply: FastifyReply, publicUrl: string): void {
  reply.header('X-Content-Type-Options', 'nosniff')
  if (isHttps(publicUrl)) reply.header('Strict-Transport-Security', `max-age=${year}`)
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
