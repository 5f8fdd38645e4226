import type { FastifyReply } from 'fastify'

/** A response whose head and body do not depend on which path the request took: Fastify's or the short one. */
export interface Answer {
  status: number
  headers: Record<string, string | number>
  /** Empty for a status without a body. */
  body: string | Buffer
}

export const json = { 'content-type': 'application/json; charset=utf-8' }

export function send(reply: FastifyReply, { status, headers, body }: Answer): FastifyReply {
  // For an empty text, Fastify would name a type and a length.
  return reply
    .status(status)
    .headers(headers)
    .send(body === '' ? undefined : body)
}
