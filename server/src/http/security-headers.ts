import type { FastifyReply } from 'fastify'

const year = 31_536_000

/** Headers of every response: browsers take each for what it says it is, and come back over TLS only. */
export function setSecurityHeaders(reply: FastifyReply, publicUrl: string): void {
  reply.header('X-Content-Type-Options', 'nosniff')
  if (isHttps(publicUrl)) reply.header('Strict-Transport-Security', `max-age=${year}`)
}

export function isHttps(publicUrl: string): boolean {
  return publicUrl.startsWith('https:')
}
