import type { ListedSessionBody, SessionBody } from '../../../../contract/sessions.ts'
import type { Access, ApiKey } from '../../domain/access/api-key.ts'
import type { Organisation } from '../../domain/access/organisation.ts'
import { ownKeyRoles, type Person } from '../../domain/access/person.ts'
import type { ListedSession } from '../../domain/access/session.ts'
import type { Store } from '../../domain/store.ts'
import { isoTime, timeOrNull } from '../../domain/time.ts'

/** The person in all organisations that one sign-in opens: those with the same address, and not with another account. */
export async function organisationsOf(store: Store, person: Person): Promise<Person[]> {
  const people = await store.people.inOrganisations(person.email, null)
  return people.filter(
    ({ subject, disabledAt }) =>
      disabledAt === null && (subject === null || person.subject === null || subject === person.subject),
  )
}

export function toListedSessionBody(session: ListedSession, current: string | null): ListedSessionBody {
  const { id, keyName, personId, client, createdAt, expiresAt } = session
  return {
    id,
    name: keyName,
    person_id: personId,
    client,
    is_current: id === current,
    created_at: isoTime(createdAt),
    expires_at: isoTime(expiresAt),
  }
}

export async function sessionBody(
  store: Store,
  { organisationId, keyId, expiresAt }: Pick<Access, 'organisationId' | 'keyId' | 'expiresAt'>,
): Promise<SessionBody> {
  const organisation = (await store.organisations.find(organisationId)) as Organisation
  const person = await store.people.ofKey(keyId)
  const { id, name, role, prompts, hint, expiresAt: keyExpiresAt } = (await store.keys.find(keyId)) as ApiKey
  return {
    organisation: { id: organisation.id, name: organisation.name, plan: organisation.plan },
    key: { id, name, role, prompts, hint, expires_at: timeOrNull(keyExpiresAt) },
    person: person && (await personOf(store, person, keyId)),
    expires_at: expiresAt === null ? null : isoTime(expiresAt),
  }
}

async function personOf(store: Store, person: Person, keyId: number): Promise<NonNullable<SessionBody['person']>> {
  const { id, name, email, role } = person
  // A key is for one organisation.
  const people = keyId === person.keyId ? await organisationsOf(store, person) : [person]
  const organisations = await Promise.all(people.map(({ organisationId }) => store.organisations.find(organisationId)))
  return {
    id,
    name,
    email,
    role,
    key_roles: ownKeyRoles(role),
    organisations: organisations.flatMap((found) => (found === null ? [] : [{ id: found.id, name: found.name }])),
  }
}
