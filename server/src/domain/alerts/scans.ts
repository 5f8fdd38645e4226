import type { PlanLimits } from '../access/plan.ts'
import type { Range } from '../shifts/shift.ts'
import type { Store } from '../store.ts'
import { day, hour, type Instant, isoTime, monthStart } from '../time.ts'
import { digestDelayMs, digestTime, isDigestTime } from './digest-time.ts'

type ScanStores = Pick<Store, 'notices' | 'organisations'>

/** Older falls are not news. */
export const maxFallAgeMs = 14 * day
// The time of a fall moves a little while votes come in.
const sameFallMs = 6 * hour
const nearLimit = 0.8

/**
 * Finds what no transaction announces: repositories that fail, limits, rates that fell without a change, and Mondays. Looks only at
 * organisations with an alert for it.
 */
export async function scan(stores: ScanStores, planLimits: PlanLimits, now: Instant): Promise<void> {
  await stores.notices.followRepositories(now)
  await scanLimits(stores, planLimits, now)
  for (const organisationId of await stores.notices.listeningTo('shift.unexplained')) {
    await scanFalls(stores, organisationId, now)
  }
  await scanDigests(stores, now)
}

/** One notice for each Monday, however often it is opened. */
async function scanDigests({ notices }: ScanStores, now: Instant): Promise<void> {
  const at = digestTime(now)
  if (!isDigestTime(at, now)) return
  const monday = isoTime(at).slice(0, 10)
  for (const organisationId of await notices.listeningTo('digest.weekly')) {
    if (now < at + digestDelayMs(organisationId)) continue
    // Read first: opening writes, and most scans find that it is open.
    if ((await notices.subjects(organisationId, 'digest')).includes(monday)) continue
    await notices.open(organisationId, 'digest', monday, at)
  }
}

async function scanLimits({ notices, organisations }: ScanStores, planLimits: PlanLimits, now: Instant): Promise<void> {
  const [near, reached] = await Promise.all([notices.listeningTo('limit.near'), notices.listeningTo('limit.reached')])
  const month = monthStart(now)
  for (const organisationId of new Set([...near, ...reached])) {
    const organisation = await organisations.find(organisationId)
    const limit = organisation === null ? null : planLimits[organisation.plan]
    if (limit === null || limit === 0) continue
    const used = (await organisations.usage(organisationId, month)).get(month) ?? 0
    if (used < nearLimit * limit) continue
    await notices.open(organisationId, 'limit', limitSubject(month, used >= limit ? 'reached' : 'near'), now)
  }
}

function limitSubject(month: Instant, state: 'near' | 'reached'): string {
  return `${monthName(month)}/${state}`
}

/** As YYYY-MM. */
export function monthName(month: Instant): string {
  return isoTime(month).slice(0, 7)
}

async function scanFalls({ notices }: ScanStores, organisationId: number, now: Instant): Promise<void> {
  const falls = await notices.unexplainedFalls(organisationId, now - maxFallAgeMs)
  if (falls.length === 0) return
  const known = (await notices.subjects(organisationId, 'shift')).map(fallTime)
  for (const { at, between } of falls) {
    if (known.some((time) => isSameFall(time, between))) continue
    known.push(at)
    await notices.open(organisationId, 'shift', `at/${isoTime(at)}`, now)
  }
}

/** The time that the notice about a fall is named after. */
export function fallTime(subject: string): Instant {
  return Date.parse(subject.slice('at/'.length))
}

/** Whether a fall somewhere in this range is the one at that time, of the same prompt or of another. */
export function isSameFall(time: Instant, [from, until]: Range): boolean {
  return time >= from - sameFallMs && time <= until + sameFallMs
}
