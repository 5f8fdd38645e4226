import type { Logger } from 'pino'
import type { PlanLimits } from '../domain/access/plan.ts'
import { scan } from '../domain/alerts/scans.ts'
import { tellNotice } from '../domain/alerts/tell-notice.ts'
import type { Store } from '../domain/store.ts'
import { type Clock, day, hour, minute } from '../domain/time.ts'
import { type Loop, startLoop } from './loop.ts'
import { createSender, type Sender, type SenderContext, type SenderStats } from './sender.ts'
import { createSignalSender, type SignalSenderContext } from './signal-sender.ts'

interface NotifierContext extends SenderContext {
  store: Store
  planLimits: PlanLimits
  clock: Clock
  log: Logger
}

const batchSize = 50
const retryAfterMs = 5 * minute
const keptMs = 90 * day
const deleteBatch = 1_000

/** Decides which alerts to notify about an event. */
export function createNotifier({ store, planLimits, clock, log }: NotifierContext) {
  return {
    /** Decides about notices that are due. False if others may be left. */
    async round(): Promise<boolean> {
      const due = await store.notices.due(clock(), batchSize)
      for (const notice of due) {
        try {
          await tellNotice(store, notice, planLimits, clock())
        } catch (error) {
          log.warn({ err: error, notice: notice.subject }, 'could not decide whom to tell')
          // So that others are not kept waiting by one that fails again and again.
          await store.notices.decide(notice, { deliveries: [], dueAt: clock() + retryAfterMs }, clock())
        }
      }
      return due.length < batchSize
    },

    /** Finds events that no transaction announces. */
    scan: () => scan(store, planLimits, clock()),

    /** Deletes notices and deliveries that ended 90 days ago. */
    async clean(): Promise<void> {
      while ((await store.notices.deleteBefore(clock() - keptMs)) >= deleteBatch);
    },
  }
}

/** Stops when the deliveries in flight have ended, or after a few seconds. Is woken when a delivery is due at once. */
export interface RunningNotifier extends Loop {
  stats(): SenderStats
}

const roundEveryMs = 2_000
const scanEveryMs = minute
const cleanEveryMs = hour

/** Decides and sends until it is stopped. */
export function startNotifier(context: NotifierContext & SignalSenderContext): RunningNotifier {
  const notifier = createNotifier(context)
  // Another message may wait for the slot of one that was sent.
  const sender: Sender = createSender({ ...context, onIdle: () => loop.wake() })
  const signals = createSignalSender({ ...context, onIdle: () => loop.wake() })
  const loop = startLoop({
    tasks: [
      { everyMs: scanEveryMs, run: notifier.scan },
      { everyMs: cleanEveryMs, run: notifier.clean },
      // With many notices, the first deliveries are sent before the rest are decided.
      { everyMs: roundEveryMs, run: async () => (await notifier.round()) || 'again' },
      { run: sender.round },
      { everyMs: scanEveryMs, run: signals.checkBacklogs },
      { run: signals.round },
    ],
    restMs: roundEveryMs,
    log: context.log,
    failure: 'could not send alerts, retrying in a moment',
  })
  return {
    async stop() {
      await Promise.all([loop.stop().then(signals.stop), sender.stop()])
    },
    wake: loop.wake,
    stats: sender.stats,
  }
}
