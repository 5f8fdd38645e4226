/** What people can be told. The names are part of the API. */
export const alertEvents = [
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
] as const

export type AlertEvent = (typeof alertEvents)[number]

/** What a new alert hears of. A digest interrupts people who were not asked to be, so it has to be chosen. */
export const defaultEvents: readonly AlertEvent[] = alertEvents.filter((event) => event !== 'digest.weekly')

/**
 * What a delivery can be about. A dismissal tells no person: it resolves the incident in PagerDuty and changes the comment on the
 * pull request, so no alert can choose it.
 */
export const deliveryEvents = [...alertEvents, 'regression.dismissed'] as const

export type DeliveryEvent = (typeof deliveryEvents)[number]
