import type { FastifyRequest } from 'fastify'
import type { Alert } from '../../domain/alerts/alert.ts'
import type { Store } from '../../domain/store.ts'
import { notFound } from '../errors.ts'
import { publicIdParameter } from '../parameters.ts'

/** The alert in the path. One of another organisation is a 404, like an unknown ID. */
export async function alertOf({ alerts }: Store, { params, access }: FastifyRequest): Promise<Alert> {
  const { alert_id: id } = params as { alert_id: string }
  const alert = await alerts.find(access.organisationId, publicIdParameter('alr', id))
  if (alert === null) throw notFound()
  return alert
}
