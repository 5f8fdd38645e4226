import type { FastifyInstance } from 'fastify'
import { type OrganisationBody, type OrganisationNameBody, operations } from '../../../../contract/organisation.ts'
import { type Organisation, validOrganisationName } from '../../domain/access/organisation.ts'
import { maxAlerts } from '../../domain/alerts/alert.ts'
import { maxSegmentKeys } from '../../domain/impact/reading/segment-keys.ts'
import { isoTime } from '../../domain/time.ts'
import type { Context } from '../context.ts'
import { route } from '../route.ts'

/** The organisation of the key. */
export function organisationRoutes(
  app: FastifyInstance,
  { store, clock, planLimits, organisationLimits }: Context,
): void {
  function bodyOf({ id, name, plan, createdAt }: Organisation): { data: OrganisationBody } {
    const { repositories, signalRetentionDays } = organisationLimits
    const limits = {
      signals_per_month: planLimits[plan],
      repositories,
      alerts: maxAlerts,
      segment_keys: maxSegmentKeys,
    }
    return {
      data: { id, name, plan, limits, signal_retention_days: signalRetentionDays, created_at: isoTime(createdAt) },
    }
  }

  route(app, operations.getOrganisation, async ({ access }) =>
    bodyOf((await store.organisations.find(access.organisationId)) as Organisation),
  )

  route(app, operations.renameOrganisation, async ({ access, body }) => {
    const name = validOrganisationName((body as OrganisationNameBody).name)
    return bodyOf((await store.organisations.rename(access.organisationId, name, clock(), access)) as Organisation)
  })
}
