import type { FastifyInstance } from 'fastify'
import { readerRoles } from '../../domain/access/api-key.ts'
import { type Organisation, validOrganisationName } from '../../domain/access/organisation.ts'
import { maxAlerts } from '../../domain/alerts/alert.ts'
import { maxSegmentKeys } from '../../domain/impact/segment-keys.ts'
import { isoTime } from '../../domain/time.ts'
import type { Context } from '../context.ts'
import { errorBodySchema, errorSchema } from '../error-schema.ts'
import {
  type OrganisationBody,
  type OrganisationNameBody,
  organisationNameSchema,
  organisationSchema,
} from './schema.ts'

const tags = ['Organisation']
const errors = { 401: errorBodySchema, 403: errorBodySchema, 500: errorBodySchema }

/** The organisation of the key. */
export function organisationRoutes({ store, clock, planLimits, organisationLimits }: Context) {
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

  return async (app: FastifyInstance) => {
    app.get(
      '/organisation',
      {
        schema: {
          operationId: 'getOrganisation',
          summary: 'Get the organisation',
          description: 'The organisation of the key, with its plan and its limits.',
          tags,
          response: { 200: organisationSchema, ...errors },
        },
        config: { roles: readerRoles },
      },
      async ({ access }) => bodyOf((await store.organisations.find(access.organisationId)) as Organisation),
    )

    app.patch(
      '/organisation',
      {
        schema: {
          operationId: 'renameOrganisation',
          summary: 'Rename the organisation',
          description: 'Only the operator of the service changes the plan.',
          tags,
          body: organisationNameSchema,
          response: {
            200: organisationSchema,
            ...errors,
            422: errorSchema('validation_error', 'name is required'),
          },
        },
        config: { roles: ['admin'] },
      },
      async ({ access, body }) => {
        const name = validOrganisationName((body as OrganisationNameBody).name)
        return bodyOf((await store.organisations.rename(access.organisationId, name, clock(), access)) as Organisation)
      },
    )
  }
}
