import type { FastifyInstance, FastifyRequest, RouteHandlerMethod, RouteOptions } from 'fastify'
import type { Operation } from '../../../contract/operation.ts'

/** Adds the route of an operation to an app whose prefix its path starts with. */
export function route(
  app: FastifyInstance,
  { method, path, roles, shared, light, batch, changesSignals, body, response }: Operation,
  handler: RouteHandlerMethod,
  options: Omit<RouteOptions, 'method' | 'url' | 'handler' | 'config' | 'schema'> = {},
): void {
  app.route({
    ...options,
    method,
    url: path.slice(app.prefix.length),
    config: { roles, shared: shared && { when: shared, schema: response[200] ?? {} }, light, batch, changesSignals },
    // Fastify needs no other part of the operation, and would prepare all of them at start-up.
    ...(body !== undefined && { schema: { body } }),
    handler,
  })
}

/** Options of a route that looks up what its path names before the body is read: 404 comes before 422, as for prompts. */
export function beforeBody(find: (request: FastifyRequest) => Promise<unknown>): Pick<RouteOptions, 'onRequest'> {
  return {
    onRequest: async (request) => {
      await find(request)
    },
  }
}
