import type { ApiKey } from '../domain/access/api-key.ts'
import type { Organisation } from '../domain/access/organisation.ts'
import type { Person } from '../domain/access/person.ts'
import type { Plan } from '../domain/access/plan.ts'
import type { Alert } from '../domain/alerts/alert.ts'
import type { ListedAlertDelivery } from '../domain/alerts/delivery.ts'
import { lookupId, type Prompt } from '../domain/prompt.ts'
import { AmbiguousPromptError, lookupName } from '../domain/prompt-reference.ts'
import type { Delivery } from '../domain/repositories/delivery.ts'
import type { Repository } from '../domain/repositories/repository.ts'
import type { Source } from '../domain/sources/source.ts'
import type { Store } from '../domain/store.ts'

export async function organisationOrFail(store: Store, id: number): Promise<Organisation> {
  const organisation = await store.organisations.find(id)
  return organisation ?? fail(`There is no organisation ${id}. See 'promptledger org list'.`)
}

export async function keyOrFail(store: Store, id: number): Promise<ApiKey> {
  return (await store.keys.find(id)) ?? fail(`There is no key ${id}. See 'promptledger key list'.`)
}

export async function personOrFail(store: Store, id: number): Promise<Person> {
  return (
    (await store.people.findInAnyOrganisation(id)) ?? fail(`There is no person ${id}. See 'promptledger person list'.`)
  )
}

/** Takes a public ID, or a name or path that only one prompt has. */
export async function promptOrFail(store: Store, reference: string): Promise<Prompt> {
  const prompt = await store.prompts.findInAnyOrganisation(lookupId(reference))
  if (prompt !== null) return prompt
  const named = await store.prompts.namedInAnyOrganisation(lookupName(reference))
  if (named.length > 1) throw new AmbiguousPromptError(named)
  return named[0] ?? fail(`There is no prompt ${reference}. See 'promptledger prompt list'.`)
}

export async function repositoryOrFail(store: Store, id: number): Promise<Repository> {
  return (await store.repositories.find(id)) ?? fail(`There is no repository ${id}. See 'promptledger repo list'.`)
}

export async function deliveryOrFail(store: Store, id: number): Promise<Delivery> {
  return (await store.deliveries.find(id)) ?? fail(`There is no delivery ${id}. See 'promptledger repo deliveries'.`)
}

export async function alertOrFail(store: Store, id: string): Promise<Alert> {
  return (
    (await store.alerts.findInAnyOrganisation(id)) ?? fail(`There is no alert ${id}. See 'promptledger alert list'.`)
  )
}

export async function alertDeliveryOrFail(store: Store, org: number, id: string): Promise<ListedAlertDelivery> {
  const delivery = await store.alertDeliveries.find(org, id)
  return delivery ?? fail(`There is no delivery ${id}. See 'promptledger alert deliveries --org ${org}'.`)
}

export async function sourceOrFail(store: Store, id: string): Promise<Source & { plan: Plan }> {
  const source = await store.sources.findInAnyOrganisation(id)
  return source ?? fail(`There is no source ${id}. See 'promptledger source list'.`)
}

function fail(message: string): never {
  throw new Error(message)
}
