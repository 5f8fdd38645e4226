import { DomainError } from '../errors.ts'
import type { PageRequest } from '../page.ts'
import type { Instant } from '../time.ts'
import { isWithin, type Role, roles } from './api-key.ts'
import type { Actor } from './audit.ts'

export const personRoles = ['viewer', 'member', 'admin'] as const

export type PersonRole = (typeof personRoles)[number]

/** What decided a role. Groups and the default of the settings decide again with each sign-in, the others do not. */
export const roleSources = ['default', 'group', 'invitation', 'admin'] as const

export type RoleSource = (typeof roleSources)[number]

/** A person in one organisation. In another organisation, the same person is another row with the same address. */
export interface Person {
  id: number
  organisationId: number
  /** In lower case. */
  email: string
  name: string
  /** The issuer and the ID of the account that they sign in with. Null until they have signed in through a provider. */
  subject: string | null
  /** The key that their sessions use. It has no known secret, their role, and is revoked while they are disabled. */
  keyId: number
  role: PersonRole
  roleFrom: RoleSource
  createdAt: Instant
  signedInAt: Instant | null
  disabledAt: Instant | null
}

export type NewPerson = Pick<
  Person,
  'organisationId' | 'email' | 'name' | 'subject' | 'role' | 'roleFrom' | 'createdAt'
>

/** The role of the key that a person's sessions use. */
export const keyRoles = { viewer: 'reader', member: 'member', admin: 'admin' } as const satisfies Record<
  PersonRole,
  Role
>

/** The roles of keys that a person may create for themselves. None may do what the person may not. */
export function ownKeyRoles(role: PersonRole): Role[] {
  return roles.filter((each) => isWithin(each, keyRoles[role]))
}

export interface PersonStore {
  /** Adds the person with the key of their sessions. They act themselves. Rejects if the organisation has the address. */
  add(person: NewPerson): Promise<Person>
  find(organisationId: number, id: number): Promise<Person | null>
  findInAnyOrganisation(id: number): Promise<Person | null>
  /** The person that a key belongs to, or whose sessions use it. */
  ofKey(keyId: number): Promise<Person | null>
  page(organisationId: number, request: PageRequest): Promise<{ people: Person[]; totalCount: number }>
  list(organisationId: number): Promise<Person[]>
  /** In all organisations, who has the address or the account. The one who signed in last comes first. */
  inOrganisations(email: string, subject: string | null): Promise<Person[]>
  /** Revokes those keys of the person that their new role does not allow. */
  setRole(person: Person, role: PersonRole, from: RoleSource, at: Instant, by: Actor): Promise<Person>
  /** Ends the person's sessions and revokes their keys. */
  disable(person: Person, at: Instant, by: Actor): Promise<Person>
  /** They can sign in again. Their sessions and keys stay ended. */
  enable(person: Person, at: Instant, by: Actor): Promise<Person>
  /**
   * Deletes the person, their sessions and invitations, and revokes their keys. What they did is kept under the name of `deletedPerson`, except
   * for entries of the audit log.
   */
  delete(person: Person, at: Instant, by: Actor): Promise<void>
  /**
   * Stores what a sign-in tells. With `unlessSince`, returns false and changes nothing if the address has signed in since then:
   * a link must not be used twice.
   */
  signedIn(
    person: Person,
    account: Pick<Person, 'email' | 'name' | 'subject'>,
    at: Instant,
    unlessSince?: Instant,
  ): Promise<boolean>
}

/** The name of a person who was deleted, and of their keys. */
export const deletedPerson = 'Deleted person'

export function knownAddress(email: string): DomainError {
  return new DomainError('conflict', `${email} is already in the organisation.`)
}
