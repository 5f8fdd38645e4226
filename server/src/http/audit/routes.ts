import type { FastifyInstance } from 'fastify'
import { type AuditFilter, auditActions } from '../../domain/access/audit.ts'
import type { Context } from '../context.ts'
import { errorBodySchema, invalidTimeSchema } from '../error-schema.ts'
import { renderPage, requestedPage } from '../page-body.ts'
import { checkTimeRange, enumParameter, type Query, timeParameter } from '../parameters.ts'
import { toAuditEntryBody } from './body.ts'
import { auditPageSchema, auditQuerySchema } from './schema.ts'

const schema = {
  operationId: 'listAudit',
  summary: 'List audit entries',
  description:
    'Who created, rotated and revoked keys; connected and disconnected repositories and rotated their webhook secrets; ' +
    'created, renamed and deleted prompts; recorded history; imported, exported, deleted and erased signals; changed the ' +
    'plan; rotated the secret key; signed in; and tried a revoked or expired key. Newest first. The entry of a change is ' +
    'written in the same transaction as the change, and each entry contains a hash of the one before it.',
  tags: ['Audit'],
  querystring: auditQuerySchema,
  response: {
    200: auditPageSchema,
    401: errorBodySchema,
    403: errorBodySchema,
    422: invalidTimeSchema('since'),
    500: errorBodySchema,
  },
}

export function auditRoutes({ store }: Context) {
  return async (app: FastifyInstance) => {
    app.get('/audit', { schema, config: { roles: ['admin'] } }, async (request, reply) => {
      const pageRequest = requestedPage(request.query)
      const filter = parseFilter(request.query as Query)
      const { entries, totalCount } = await store.audit.page(request.access.organisationId, filter, pageRequest)
      const page = renderPage(entries.map(toAuditEntryBody), pageRequest, totalCount)
      return reply.type('application/json; charset=utf-8').send(page)
    })
  }
}

function parseFilter(query: Query): AuditFilter {
  const [since, until] = [timeParameter(query, 'since'), timeParameter(query, 'until')]
  checkTimeRange(['since', since], ['until', until])
  return { action: enumParameter(query, 'action', auditActions), since, until }
}
