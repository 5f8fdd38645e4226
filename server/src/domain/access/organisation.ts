import type { VoterKeyStore } from '../signals/voter.ts'
import { validName } from '../text.ts'
import type { Instant } from '../time.ts'
import type { Actor } from './audit.ts'
import type { Plan } from './plan.ts'

export interface Organisation {
  id: number
  name: string
  plan: Plan
  createdAt: Instant
}

export type NewOrganisation = Omit<Organisation, 'id'>

export function newOrganisation(name: string, plan: Plan, now: Instant): NewOrganisation {
  return { name: validOrganisationName(name), plan, createdAt: now }
}

export function validOrganisationName(name: string): string {
  return validName('name', name, 200)
}

export interface OrganisationStore extends VoterKeyStore {
  create(organisation: NewOrganisation): Promise<Organisation>
  /** Creates the organisation only in an empty database. If several processes try at once, exactly one succeeds. */
  createFirst(organisation: NewOrganisation): Promise<Organisation | null>
  find(id: number): Promise<Organisation | null>
  list(): Promise<Organisation[]>
  /** Signals recorded per month from `since` on, keyed by the start of the month. Months without signals are omitted. */
  usage(id: number, since: Instant): Promise<Map<Instant, number>>
  /** Null if the organisation does not exist. */
  rename(id: number, name: string, at: Instant, by: Actor): Promise<Organisation | null>
  setPlan(id: number, plan: Plan, at: Instant, by: Actor): Promise<Organisation | null>
}
