import type { IssuedKeyBody, KeyBody } from '../../../../contract/keys.ts'
import type { ApiKey, IssuedKey } from '../../domain/access/api-key.ts'
import { isoTime, timeOrNull } from '../../domain/time.ts'

export function toKeyBody(key: ApiKey): KeyBody {
  const { id, organisationId, personId, name, role, prompts, hint, createdAt, expiresAt, revokedAt, lastUsedAt } = key
  return {
    id,
    organisation_id: organisationId,
    person_id: personId,
    name,
    // `member` is only the role of the key of a person's sessions, which no list contains.
    role: role as KeyBody['role'],
    prompts,
    hint,
    created_at: isoTime(createdAt),
    expires_at: timeOrNull(expiresAt),
    revoked_at: timeOrNull(revokedAt),
    last_used_at: timeOrNull(lastUsedAt),
  }
}

export function toIssuedKeyBody({ key, secret }: IssuedKey): IssuedKeyBody {
  const { id, organisation_id, person_id, name, role, prompts, created_at, expires_at } = toKeyBody(key)
  return { id, key: secret, organisation_id, person_id, name, role, prompts, created_at, expires_at }
}
