import { validLine } from '../text.ts'
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
  return { name: validLine('name', name, 200), plan, createdAt: now }
}

export interface OrganisationStore {
  create(organisation: NewOrganisation): Promise<Organisation>
  /** Creates the organisation only where there is none at all; of several processes that try at once, one succeeds. */
  createFirst(organisation: NewOrganisation): Promise<Organisation | null>
  find(id: number): Promise<Organisation | null>
  list(): Promise<Organisation[]>
  /** The signals recorded in each month from `since` on, by its first instant; months without any are left out. */
  usage(id: number, since: Instant): Promise<Map<Instant, number>>
  setPlan(id: number, plan: Plan, at: Instant, by: Actor): Promise<Organisation | null>
}
