import { randomUUID } from 'node:crypto'
import type { Delivery } from '../../../testing/payloads/facts.ts'
import type { Scenario } from '../../../testing/scenario.ts'

export interface DeliveryBody {
  id: number
  event: string
  state: string
  attempts: number
  error: string | null
  next_attempt_at: string | null
}

export async function deliveriesOf(scenario: Scenario): Promise<DeliveryBody[]> {
  const { data } = await scenario.get(`/repositories/${scenario.repository.id}/deliveries`)
  return data as DeliveryBody[]
}

export async function isDue({ service, repository }: Scenario): Promise<boolean> {
  return (await service.store.repositories.due(service.now)).some(({ id }) => id === repository.id)
}

/** Pushes a new commit to the remote and returns its delivery, which has not been sent yet. */
export function newPush(scenario: Scenario): Delivery {
  const before = scenario.git.head()
  scenario.git.commit('Change', { 'prompts/p.md': `${randomUUID()}\n` })
  scenario.git.push()
  return scenario.pushDelivery('main', before)
}
