import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { readerRoles } from '../../domain/access/api-key.ts'
import { DomainError, UnavailableError } from '../../domain/errors.ts'
import type { ToolContext } from '../../mcp/tool.ts'
import { authenticate } from '../auth.ts'
import type { Context } from '../context.ts'
import { acceptJsonBodies } from '../json-bodies.ts'
import { requireKey } from '../keys/required.ts'
import { lazy } from '../lazy.ts'
import { isSameOrigin } from '../same-origin.ts'
import { mcpPath } from './path.ts'

// Not part of the API, so not in its documentation: see docs/mcp.md.
const schema = { body: { type: 'object' } }

const methodNotAllowed = JSON.stringify({
  error: {
    code: 'not_found',
    message: 'This is an MCP endpoint without sessions and streams. It only responds to POST.',
  },
})

/** The endpoint for agents: the Model Context Protocol over HTTP. */
export function mcpRoutes(app: FastifyInstance, context: Context): void {
  const { store, learned, clock, log, publicUrl, propose } = context
  // The SDK takes longer to load than the rest of the API, and most processes never need it.
  const loadEndpoint = lazy(() => import('../../mcp/endpoint.ts'))

  for (const method of ['GET', 'DELETE']) {
    app.route({ method, url: mcpPath, handler: rejectMethod })
  }

  app.register(async (guarded) => {
    // Agents send a key. A session would let any page that the user visits try the tools.
    requireKey(guarded, context, (request, _reply, now) => authenticate(store, app.rejectedKeys, request, now))
    acceptJsonBodies(guarded)
    guarded.post(mcpPath, { schema, config: { roles: readerRoles } }, async (request, reply) => {
      // Required by the protocol against DNS rebinding: only programs and our own pages may connect.
      if (isSameOrigin(request.headers, publicUrl()) === false) throw crossOrigin()
      const { respond } = await loadEndpoint()
      const { status, contentType, body } = await respond(
        { headers: protocolHeaders(request), body: request.body as object },
        toolContext(request, reply),
        (thrown) => {
          if (!(thrown instanceof UnavailableError)) log.error({ requestId: request.id, err: thrown }, 'tool failed')
        },
      )
      reply.header('Cache-Control', 'no-store')
      if (contentType !== null) reply.type(contentType)
      return reply.status(status).send(body)
    })
  })

  function toolContext({ access }: FastifyRequest, reply: FastifyReply): ToolContext {
    const texts: ToolContext['texts'] = {
      contents: (organisationId, entry) => app.contents.contents(organisationId, entry, reply),
      earliestText: (prompt, at) => app.contents.earliestText(prompt, at, reply),
    }
    return { store, learned, access, texts, propose, now: clock() }
  }
}

function rejectMethod(_request: FastifyRequest, reply: FastifyReply): FastifyReply {
  return reply.status(405).header('Allow', 'POST').type('application/json; charset=utf-8').send(methodNotAllowed)
}

function crossOrigin(): DomainError {
  return new DomainError('forbidden', 'Pages of other sites cannot use this endpoint.')
}

/** What the protocol reads of a request. The key stays outside. */
function protocolHeaders({ headers }: FastifyRequest): Headers {
  const read = new Headers({ 'content-type': 'application/json' })
  for (const [name, value] of Object.entries(headers)) {
    if ((name === 'accept' || name.startsWith('mcp-')) && typeof value === 'string') read.set(name, value)
  }
  return read
}
