import type { Store } from '../domain/store.ts'
import { counter, type Family, gauge } from './text-format.ts'

/** What the sender of alerts counts. Null before it has started. */
export type AlertSource = () => { stats(): { attempts: Record<string, number> } } | null

// Names come from users, so the number of series has to be limited.
const maxSeries = 1_000
const noAttempts = { sent: 0, retry: 0, rejected: 0, gone: 0 }

/** `fromDatabase` bounds the time that reading takes. */
export async function alertFamilies(
  store: Store,
  source: AlertSource,
  fromDatabase: <T>(read: Promise<T>, otherwise: T) => Promise<T>,
): Promise<Family[]> {
  const [open, pending] = await Promise.all([
    fromDatabase(store.regressions.openCounts(maxSeries), []),
    fromDatabase(
      store.alertDeliveries.countPending().then((value) => [{ value }]),
      [],
    ),
  ])
  const attempts = source()?.stats().attempts ?? noAttempts
  return [
    gauge(
      'promptledger_regressions_open',
      'Open regressions, by organisation and prompt. At most 1,000 prompts.',
      open.map(({ organisation, prompt, count }) => ({ labels: { organisation, prompt }, value: count })),
    ),
    gauge(
      'promptledger_alert_deliveries_pending',
      'Messages to alerts and pull requests that wait to be sent.',
      pending,
    ),
    counter(
      'promptledger_alert_attempts_total',
      'Attempts to send a message to an alert or a pull request, by outcome. retry: to be repeated.',
      Object.entries(attempts).map(([outcome, value]) => ({ labels: { outcome }, value })),
    ),
  ]
}
