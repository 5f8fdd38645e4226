import { issueKey, type KeyDetails } from '../domain/access/api-key.ts'
import { operator } from '../domain/access/audit.ts'
import { newOrganisation, type Organisation } from '../domain/access/organisation.ts'
import { day, hour, type Instant } from '../domain/time.ts'
import type { SyncContext } from '../follow/sync-context.ts'
import { minute, week } from './timeline.ts'

/**
 * Creates an organisation with active, expiring and revoked keys, and declared segments. Returns the secret of an admin key, and
 * a signing key.
 */
export async function createOrganisation(
  { store: { organisations, keys, segments }, vault }: Pick<SyncContext, 'store' | 'vault'>,
  now: Instant,
): Promise<{ organisation: Organisation; secret: string; signingKey: string }> {
  const createdAt = now - 53 * week
  const organisation = await organisations.create(newOrganisation('Acme', 'team', createdAt))
  const issue = (details: Omit<KeyDetails, 'organisationId'>) =>
    issueKey(keys, { organisationId: organisation.id, ...details }, operator, vault)

  const app = await issue({ name: 'Production app', role: 'ingest', createdAt, expiresAt: null })
  const contractor = await issue({
    name: 'Contractor',
    role: 'admin',
    createdAt: createdAt + week,
    expiresAt: null,
  })
  const notebook = await issue({
    name: 'Analytics notebook',
    role: 'standard',
    createdAt: now - 5 * week,
    expiresAt: now + 55 * day,
  })
  const website = await issue({ name: 'Website', role: 'signing', createdAt: now, expiresAt: null })
  const { secret } = await issue({ name: 'Demonstration', role: 'admin', createdAt: now, expiresAt: null })
  await keys.recordUses([
    { keyId: contractor.key.id, usedAt: now - 31 * week },
    { keyId: notebook.key.id, usedAt: now - 2 * day - 3 * hour },
    { keyId: app.key.id, usedAt: now - minute },
  ])
  await keys.revoke(contractor.key.id, now - 30 * week, operator)
  await segments.setForOrganisation(organisation.id, ['model', 'locale'], createdAt, operator)
  return { organisation, secret, signingKey: website.secret }
}
