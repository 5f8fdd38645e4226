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
] as const

export type AlertEvent = (typeof alertEvents)[number]
