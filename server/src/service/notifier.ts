import type { Logger } from 'pino'
import type { PlanLimits } from '../domain/access/plan.ts'
import { scan } from '../domain/alerts/scans.ts'
import { tellNotice } from '../domain/alerts/tell-notice.ts'
import type { Store } from '../domain/store.ts'
import { type Clock, day, hour, minute } from '../domain/time.ts'
import { createSender, type Sender, type SenderContext, type SenderStats } from './sender.ts'

export interface TellerContext extends SenderContext {
  store: Store
  planLimits: PlanLimits
  clock: Clock
  log: Logger
}

/** Decides whom to tell about what happened. */
export interface Teller {
  /** Decides about notices that are due. False if others may be left. */
  round(): Promise<boolean>
  /** Finds what no transaction announces. */
  scan(): Promise<void>
  /** Deletes what ended 90 days ago. */
  clean(): Promise<void>
}

const batchSize = 50
const retryAfterMs = 5 * minute
const keptMs = 90 * day
const deleteBatch = 1_000

export function createTeller({ store, planLimits, clock, log }: TellerContext): Teller {
  return {
    async round() {
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

    scan: () => scan(store, planLimits, clock()),

    async clean() {
      while ((await store.notices.deleteBefore(clock() - keptMs)) >= deleteBatch);
    },
  }
}

export interface RunningTeller {
  /** Resolves when what is being sent has ended, or after a few seconds. */
  stop(): Promise<void>
  /** A delivery is due at once. */
  wake(): void
  stats(): SenderStats
}

const roundEveryMs = 2_000
const scanEveryMs = minute
const cleanEveryMs = hour

/** Tells and sends until it is stopped. */
export function startTeller(context: TellerContext): RunningTeller {
  const { log } = context
  let stopped = false
  let isWoken = false
  let wake = () => {
    isWoken = true
  }
  const teller = createTeller(context)
  const sender: Sender = createSender({ ...context, onIdle: () => wake() })
  const lastAt = new Map<() => Promise<void>, number>()

  /** Ends early when a message was sent, because another one may wait for its slot, and when the teller stops. */
  async function rest(): Promise<void> {
    if (!isWoken) {
      await new Promise<void>((resolve) => {
        const timer = setTimeout(resolve, roundEveryMs).unref()
        wake = () => {
          isWoken = true
          clearTimeout(timer)
          resolve()
        }
      })
    }
    isWoken = false
  }

  async function every(intervalMs: number, work: () => Promise<void>): Promise<void> {
    const now = performance.now()
    const last = lastAt.get(work)
    if (last !== undefined && now - last < intervalMs) return
    lastAt.set(work, now)
    await work()
  }

  /** With many notices, what was decided first is sent before the rest is decided. */
  async function decide(): Promise<void> {
    if (await teller.round()) return
    lastAt.delete(decide)
    wake()
  }

  async function run(): Promise<void> {
    await rest()
    while (!stopped) {
      try {
        await every(scanEveryMs, teller.scan)
        await every(cleanEveryMs, teller.clean)
        await every(roundEveryMs, decide)
        await sender.round()
      } catch (error) {
        log.warn({ err: error }, 'could not send alerts, retrying in a moment')
        isWoken = false
      }
      await rest()
    }
  }

  const running = run()
  return {
    async stop() {
      stopped = true
      wake()
      await Promise.all([running, sender.stop()])
    },
    wake: () => wake(),
    stats: sender.stats,
  }
}
