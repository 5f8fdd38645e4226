import { issueKey, type KeyDetails } from '../domain/access/api-key.ts'
import { operator } from '../domain/access/audit.ts'
import { newOrganisation, type Organisation } from '../domain/access/organisation.ts'
import type { Store } from '../domain/store.ts'
import type { Instant } from '../domain/time.ts'
import { day, hour, minute, week } from './timeline.ts'

/** Makes an organisation with a few keys, and gives the secret of one that may do everything. */
export async function makeOrganisation(
  { organisations, keys }: Store,
  now: Instant,
): Promise<{ organisation: Organisation; secret: string }> {
  const begun = now - 53 * week
  const organisation = await organisations.create(newOrganisation('Acme', 'team', begun))
  const issue = (terms: Omit<KeyDetails, 'organisationId'>) =>
    issueKey(keys, { organisationId: organisation.id, ...terms }, operator)

  const app = await issue({ name: 'Production app', role: 'ingest', createdAt: begun, expiresAt: null })
  const contractor = await issue({ name: 'Contractor', role: 'admin', createdAt: begun + week, expiresAt: null })
  const notebook = await issue({
    name: 'Analytics notebook',
    role: 'standard',
    createdAt: now - 5 * week,
    expiresAt: now + 55 * day,
  })
  const { secret } = await issue({ name: 'Demonstration', role: 'admin', createdAt: now, expiresAt: null })
  await keys.recordUses([
    { keyId: contractor.key.id, usedAt: now - 31 * week },
    { keyId: notebook.key.id, usedAt: now - 2 * day - 3 * hour },
    { keyId: app.key.id, usedAt: now - minute },
  ])
  await keys.revoke(contractor.key.id, now - 30 * week, operator)
  return { organisation, secret }
}
