import type { FastifyRequest } from 'fastify'
import type { AuditThrottle } from './throttle.ts'

/** Audits an export of a prompt's data before the first line is sent. */
export function auditExport(
  throttle: AuditThrottle,
  { access, prompt }: FastifyRequest,
  action: 'signals.exported' | 'history.exported',
  format: string,
): Promise<void> {
  return throttle.record({
    organisationId: access.organisationId,
    by: access,
    action,
    subject: { id: prompt.publicId, name: prompt.name },
    details: { format },
    about: `${prompt.publicId} ${format}`,
  })
}
