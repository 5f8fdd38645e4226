import type { PersonBody } from '../../../../contract/people.ts'
import type { Person } from '../../domain/access/person.ts'
import { isoTime, timeOrNull } from '../../domain/time.ts'

export function toPersonBody(person: Person): PersonBody {
  const { id, email, name, role, roleFrom, createdAt, signedInAt, disabledAt } = person
  return {
    id,
    email,
    name,
    role,
    role_from: roleFrom,
    created_at: isoTime(createdAt),
    signed_in_at: timeOrNull(signedInAt),
    disabled_at: timeOrNull(disabledAt),
  }
}
