import type { FastifyReply, FastifyRequest } from 'fastify'
import { visible } from './visible.ts'

declare global {
  // Not in TypeScript's library yet.
  interface JSON {
    rawJSON(text: string): object
    isRawJSON(value: unknown): boolean
  }
}

/** Keeps responses to share links out of caches, and everything out of them that the schema of the response does not allow. */
export async function restrictShared(request: FastifyRequest, reply: FastifyReply, payload: unknown): Promise<unknown> {
  // Undefined if the key was rejected.
  if (request.access?.shared === undefined) return payload
  reply.header('Cache-Control', 'no-store')
  const { shared } = request.routeOptions.config
  // Errors say nothing about the prompt.
  if (reply.statusCode >= 400 || shared === undefined || payload == null) return payload
  // A long text has been encoded by now.
  return JSON.stringify(visible(shared.schema, JSON.parse(String(payload), exactNumbers)))
}

/** Numbers stay as they were written: those in metadata can have more digits than a number can hold. */
function exactNumbers(_name: string, value: unknown, { source }: { source?: string } = {}): unknown {
  return typeof value === 'number' && source !== undefined ? JSON.rawJSON(source) : value
}
