import type { Store } from '../store.ts'
import type { Instant } from '../time.ts'
import { hashSecret } from './api-key.ts'
import { domainOf, mailboxOf } from './email-address.ts'
import { isInvitationToken } from './invitation.ts'
import { type Person, type PersonRole, personRoles, type RoleSource } from './person.ts'

/** Who may sign in, and with which role. */
export interface SignInRules {
  /** Only addresses of these domains may sign in. Empty for all. */
  domains: readonly string[]
  /** The role of people who sign in without an invitation. Null if they need one. */
  defaultRole: PersonRole | null
  groups: { claim: string; roles: Readonly<Record<string, PersonRole>> } | null
}

/** Someone who has proven that the address is theirs. */
export interface Account {
  email: string
  name: string
  /** `<issuer> <ID>`. Null for someone who signs in by email. */
  subject: string | null
  /** Null where groups are not known. */
  groups: readonly string[] | null
}

/** Why an account may not sign in, although it was proven. */
export type Refusal = 'domain' | 'disabled' | 'unknown' | 'other_account' | 'invitation' | 'used'

/** A setting that keeps people from signing in. The message names it, and contains no secret. */
export class SettingProblem extends Error {
  readonly setting: string

  constructor(setting: string, message: string) {
    super(message)
    this.setting = setting
  }
}

/** Why a sign-in failed that is set up right: the person can only try again. */
export class FailedSignIn extends Error {
  readonly reason: 'state' | 'denied' | 'unverified'

  constructor(reason: FailedSignIn['reason'], message: string) {
    super(message)
    this.reason = reason
  }
}

interface Attempt {
  account: Account
  /** The token of an invitation, if the person came by one. */
  invitation: string | null
  /** When the link was sent that the person signs in with, which works once. */
  linkSentAt?: Instant
}

type SignInStore = Pick<Store, 'people' | 'invitations' | 'organisations'>

/**
 * The person in the organisation that they open, whom it adds where an invitation, a group or the default role says so. Settings
 * apply to the first organisation of the service only: others invite.
 */
export async function admitPerson(
  { people, invitations, organisations }: SignInStore,
  rules: SignInRules,
  { account, invitation: token, linkSentAt }: Attempt,
  now: Instant,
): Promise<Person | Refusal> {
  if (rules.domains.length > 0 && !rules.domains.includes(domainOf(account.email))) return 'domain'
  const known = await people.inOrganisations(account.email, account.subject)
  const own = known.filter(({ subject }) => isSameAccount(subject, account.subject))

  function join(organisationId: number, role: PersonRole, roleFrom: RoleSource): Promise<Person> {
    const { email, name, subject } = account
    return people.add({ organisationId, email, name, subject, role, roleFrom, createdAt: now })
  }

  async function acceptInvitation(): Promise<Person | Refusal | null> {
    if (token === null) return null
    const invitation = isInvitationToken(token) ? await invitations.find(hashSecret(token), now) : null
    if (invitation === null) return 'invitation'
    const { organisationId, email, role } = invitation
    const member = known.find((person) => person.organisationId === organisationId)
    if (member !== undefined) return member
    if (!invitation.isOpen || (email !== null && email !== account.email)) return 'invitation'
    return (await invitations.accept(invitation, now)) ? join(organisationId, role, 'invitation') : 'invitation'
  }

  /** Otherwise someone who was disabled would join again with `name+1@…`. A provider disables accounts by itself. */
  async function isDisabledMailbox(organisationId: number): Promise<boolean> {
    if (account.subject !== null) return false
    const mailbox = mailboxOf(account.email)
    return (await people.list(organisationId)).some(
      ({ email, disabledAt }) => disabledAt !== null && mailboxOf(email) === mailbox,
    )
  }

  /** What the settings say about the first organisation. Null if they say nothing. */
  async function followSettings(): Promise<Person | null> {
    const grant = grantedRole(rules, account)
    const [home] = await organisations.list()
    if (home === undefined) return null
    const person = own.find(({ organisationId }) => organisationId === home.id)
    if (person === undefined) {
      const isTaken = known.some(({ organisationId }) => organisationId === home.id)
      if (grant === null || isTaken || (await isDisabledMailbox(home.id))) return null
      return join(home.id, grant.role, grant.from)
    }
    if (person.disabledAt !== null || !followsSettings(person) || account.groups === null) return person
    if (grant === null) return person.roleFrom === 'group' ? people.disable(person, now, person) : person
    if (grant.role === person.role && grant.from === person.roleFrom) return person
    return people.setRole(person, grant.role, grant.from, now, person)
  }

  const invited = await acceptInvitation()
  if (typeof invited === 'string') return invited
  const home = invited === null ? await followSettings() : null
  const candidates = [invited, ...own.map((person) => (person.id === home?.id ? home : person)), home].filter(
    (person) => person !== null,
  )
  const chosen = candidates.find(
    (person) => person.disabledAt === null && isSameAccount(person.subject, account.subject),
  )
  if (chosen === undefined) {
    if (candidates.some(({ disabledAt }) => disabledAt !== null)) return 'disabled'
    return known.length > own.length ? 'other_account' : 'unknown'
  }
  // Not before the link was sent, by the clock of the process that sent it: otherwise it could be used again.
  const at = Math.max(now, linkSentAt ?? 0)
  return (await people.signedIn(chosen, account, at, linkSentAt)) ? chosen : 'used'
}

/** Whether someone would be let in, before they have proven that the address is theirs. */
export async function isExpected(
  { people, invitations }: SignInStore,
  rules: SignInRules,
  email: string,
  token: string | null,
  now: Instant,
): Promise<boolean> {
  if (rules.domains.length > 0 && !rules.domains.includes(domainOf(email))) return false
  if (rules.defaultRole !== null) return true
  const known = await people.inOrganisations(email, null)
  if (known.some(({ disabledAt }) => disabledAt === null)) return true
  const invitation = token !== null && isInvitationToken(token) ? await invitations.find(hashSecret(token), now) : null
  if (invitation === null || !invitation.isOpen) return false
  return invitation.email === null || invitation.email === email
}

function followsSettings({ roleFrom }: Person): boolean {
  return roleFrom === 'group' || roleFrom === 'default'
}

/**
 * Whether both are one person. A provider may give the address of one person to another later, whose account is a new one. Accounts
 * of another provider, from before the operator changed it, do not matter.
 */
function isSameAccount(known: string | null, subject: string | null): boolean {
  if (known === null || subject === null || known === subject) return true
  return issuerOf(known) !== issuerOf(subject)
}

function issuerOf(subject: string): string {
  return subject.slice(0, subject.indexOf(' '))
}

/** The highest role of the account's groups, or the default. */
function grantedRole(
  { groups, defaultRole }: SignInRules,
  account: Account,
): { role: PersonRole; from: RoleSource } | null {
  const ofGroups = (account.groups ?? []).flatMap((group) =>
    groups !== null && Object.hasOwn(groups.roles, group) ? [groups.roles[group] as PersonRole] : [],
  )
  const role = personRoles.findLast((each) => ofGroups.includes(each))
  if (role !== undefined) return { role, from: 'group' }
  return defaultRole === null ? null : { role: defaultRole, from: 'default' }
}
