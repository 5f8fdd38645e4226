import type { FastifyReply, FastifyRequest } from 'fastify'

// Only a member of an object: within a text, quotes are escaped.
const emails = /"email":"(?:[^"\\]|\\.)*"/g

/** A commit message without the addresses that git and forges add to it, such as those of co-authors. */
export function withoutAddresses(message: string | null): string | null {
  return message?.replaceAll(/<[^<>\s]+@[^<>\s]+>/g, '<>') ?? null
}

/** Keeps responses to share links out of caches, and addresses of authors out of these responses. */
export async function restrictShared(request: FastifyRequest, reply: FastifyReply, payload: unknown): Promise<unknown> {
  // Undefined if the key was rejected.
  if (request.access?.shared === undefined) return payload
  reply.header('Cache-Control', 'no-store')
  // Signals have no authors, but metadata that may have such a member.
  const hasAuthors = request.routeOptions.config.shared === 'always'
  if (!hasAuthors) return payload
  // A long text has been encoded by now.
  const text = Buffer.isBuffer(payload) ? payload.toString() : payload
  return typeof text === 'string' ? text.replaceAll(emails, '"email":""') : text
}
