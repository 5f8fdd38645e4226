import type { FastifyInstance } from 'fastify'
import { operations } from '../../../../contract/audit.ts'
import { type AuditFilter, auditActions } from '../../domain/access/audit.ts'
import { invalid } from '../../domain/errors.ts'
import type { Context } from '../context.ts'
import { requestedPage, sendPage } from '../page-body.ts'
import { checkTimeRange, enumParameter, lastValue, type Query, timeParameter } from '../parameters.ts'
import { route } from '../route.ts'
import { toAuditEntryBody } from './body.ts'

export function auditRoutes(app: FastifyInstance, { store }: Context): void {
  route(app, operations.listAudit, async (request, reply) => {
    const pageRequest = requestedPage(request.query)
    const filter = parseFilter(request.query as Query)
    const { entries, totalCount } = await store.audit.page(request.access.organisationId, filter, pageRequest)
    return sendPage(reply, entries.map(toAuditEntryBody), pageRequest, totalCount)
  })
}

function parseFilter(query: Query): AuditFilter {
  const [since, until] = [timeParameter(query, 'since'), timeParameter(query, 'until')]
  checkTimeRange(['since', since], ['until', until])
  return {
    action: enumParameter(query, 'action', auditActions),
    actor: parseActor(lastValue(query.actor)),
    person: parsePerson(lastValue(query.person)),
    since,
    until,
  }
}

const numericId = /^[1-9]\d{0,14}$/

function parseActor(text: string | undefined): AuditFilter['actor'] {
  if (text === undefined || text === 'operator') return text ?? null
  if (!numericId.test(text)) throw invalid('actor must be the ID of a key, or operator')
  return Number(text)
}

function parsePerson(text: string | undefined): number | null {
  if (text === undefined) return null
  if (!numericId.test(text)) throw invalid('person must be the ID of a person')
  return Number(text)
}
