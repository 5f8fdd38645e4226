import type { FastifyReply } from 'fastify'

const preflightAgeSeconds = 86_400

/**
 * Lets pages of every origin vote and read the response. That is safe here only: a vote is authorised by its token alone, and
 * browsers send no cookies with requests that a `*` permits.
 */
export function allowAnyOrigin(reply: FastifyReply): void {
  reply.header('Access-Control-Allow-Origin', '*')
  reply.header('Access-Control-Expose-Headers', 'Retry-After, X-Request-Id')
}

export function describePost(reply: FastifyReply): void {
  reply.header('Access-Control-Allow-Methods', 'POST')
  reply.header('Access-Control-Allow-Headers', 'Content-Type')
  reply.header('Access-Control-Max-Age', preflightAgeSeconds)
}
