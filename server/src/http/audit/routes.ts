import type { FastifyInstance } from 'fastify'
import { type AuditFilter, auditActions } from '../../domain/access/audit.ts'
import { invalid } from '../../domain/errors.ts'
import type { Context } from '../context.ts'
import { errorBodySchema, invalidTimeSchema } from '../error-schema.ts'
import { renderPage, requestedPage } from '../page-body.ts'
import { checkTimeRange, enumParameter, lastValue, type Query, timeParameter } from '../parameters.ts'
import { toAuditEntryBody } from './body.ts'
import { auditPageSchema, auditQuerySchema } from './schema.ts'

const schema = {
  operationId: 'listAudit',
  summary: 'List audit entries',
  description:
    'Who created, rotated and revoked keys; connected and disconnected repositories and rotated their webhook secrets; ' +
    'created, renamed and deleted prompts; recorded and exported history; imported, exported, deleted and erased signals; renamed the ' +
    'organisation and changed its plan; rotated the secret key; signed in; and tried a revoked or expired key. Newest first. The entry of a change is ' +
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
  return {
    action: enumParameter(query, 'action', auditActions),
    actor: parseActor(lastValue(query.actor)),
    since,
    until,
  }
}

function parseActor(text: string | undefined): AuditFilter['actor'] {
  if (text === undefined || text === 'operator') return text ?? null
  if (!/^[1-9]\d{0,14}$/.test(text)) throw invalid('actor must be the ID of a key, or operator')
  return Number(text)
}
