import type { FastifyInstance } from 'fastify'
import { type AuditFilter, auditActions } from '../../domain/access/audit.ts'
import type { Context } from '../context.ts'
import { errorBodySchema, errorSchema } from '../error-schema.ts'
import { renderPage, requestedPage } from '../page-body.ts'
import { checkTimeRange, enumParameter, type Query, timeParameter } from '../parameters.ts'
import { toAuditEntryBody } from './body.ts'
import { auditPageSchema, auditQuerySchema } from './schema.ts'

const schema = {
  operationId: 'listAudit',
  summary: 'List who did what',
  description:
    'Who created, rotated and revoked keys, connected and disconnected repositories and rotated their secrets, created, ' +
    'renamed and deleted prompts, took back and erased signals, and changed the plan. Newest first. Each entry is ' +
    'written together with what it records, and stays.',
  tags: ['Audit'],
  querystring: auditQuerySchema,
  response: {
    200: auditPageSchema,
    401: errorBodySchema,
    403: errorBodySchema,
    422: errorSchema(
      'validation_error',
      'since must be an ISO 8601 time with a time zone, such as 2026-11-15T09:30:00.000Z',
    ),
    500: errorBodySchema,
  },
}

export function auditRoutes({ store }: Context) {
  return async (app: FastifyInstance) => {
    app.get('/audit', { schema, config: { roles: ['admin'] } }, async (request, reply) => {
      const asked = requestedPage(request.query)
      const filter = filterOf(request.query as Query)
      const { entries, totalCount } = await store.audit.page(request.access.organisationId, filter, asked)
      const page = renderPage(entries.map(toAuditEntryBody), asked, totalCount)
      return reply.type('application/json; charset=utf-8').send(page)
    })
  }
}

function filterOf(query: Query): AuditFilter {
  const [since, until] = [timeParameter(query, 'since'), timeParameter(query, 'until')]
  checkTimeRange(['since', since], ['until', until])
  return { action: enumParameter(query, 'action', auditActions), since, until }
}
