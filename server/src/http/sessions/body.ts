import type { SessionBody } from '../../../../contract/sessions.ts'
import type { Access, ApiKey } from '../../domain/access/api-key.ts'
import type { Organisation } from '../../domain/access/organisation.ts'
import type { Store } from '../../domain/store.ts'
import { isoTime } from '../../domain/time.ts'
import { toKeyBody } from '../keys/body.ts'

export async function sessionBody(store: Store, { organisationId, keyId, expiresAt }: Access): Promise<SessionBody> {
  const organisation = (await store.organisations.find(organisationId)) as Organisation
  const { id, name, role, prompts, hint, expires_at } = toKeyBody((await store.keys.find(keyId)) as ApiKey)
  return {
    organisation: { id: organisation.id, name: organisation.name, plan: organisation.plan },
    key: { id, name, role, prompts, hint, expires_at },
    expires_at: expiresAt === null ? null : isoTime(expiresAt),
  }
}
