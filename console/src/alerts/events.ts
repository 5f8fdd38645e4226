import type { AlertEvent, DeliveryEvent } from '@promptledger/client'

export const alertEvents: AlertEvent[] = [
  'regression.opened',
  'regression.repaired',
  'regression.withdrawn',
  'shift.unexplained',
  'limit.near',
  'limit.reached',
  'repository.failing',
  'repository.recovered',
  'trial.started',
  'trial.better',
  'trial.worse',
  'trial.stopped',
  'trial.mismatch',
  'digest.weekly',
]

/** What a new alert hears of. */
export const defaultEvents = alertEvents.filter((event) => event !== 'digest.weekly')

/** What an alert hears of, if that is everything. */
export function allEvents(events: readonly AlertEvent[]): string | null {
  if (!defaultEvents.every((event) => events.includes(event))) return null
  return events.includes('digest.weekly') ? 'All' : 'All but the digest'
}

export const eventLabels: Record<DeliveryEvent, string> = {
  'regression.opened': 'A change made prompts worse',
  'regression.repaired': 'A regression is repaired',
  'regression.withdrawn': 'A regression is withdrawn',
  'regression.dismissed': 'A regression is dismissed',
  'shift.unexplained': 'Prompts got worse without a change',
  'limit.near': '80% of the monthly limit is used',
  'limit.reached': 'The monthly limit is reached',
  'repository.failing': 'A repository cannot be synced',
  'repository.recovered': 'A repository is synced again',
  'trial.started': 'A trial has started',
  'trial.better': 'A trial found its candidate better',
  'trial.worse': 'A trial found its candidate worse, and stopped',
  'trial.stopped': 'A trial has ended',
  'trial.mismatch': 'A trial cannot be judged',
  'digest.weekly': 'A digest every Monday: what helped, what hurt, and what is undecided',
}
