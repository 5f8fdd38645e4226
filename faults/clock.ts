import { setTimeout as pause } from 'node:timers/promises'
import type { Prompt } from '../server/src/domain/prompt.ts'
import { day, hourStart, monthStart, nextMonthStart } from '../server/src/domain/time.ts'
import { type Account, createAccount } from '../testing/account.ts'
import { TestService } from '../testing/service.ts'
import type { Fault } from './fault.ts'
import { reconcile } from './reconcile.ts'
import { importedNumber, startSenders } from './senders.ts'
import { openService, stopService } from './service.ts'

const minute = 60_000
// The months around a leap day.
const firstMonth = Date.UTC(2028, 0)
const leapDay = Date.UTC(2028, 1, 29)
const end = Date.UTC(2028, 3, 30)
// Jumping to just before a boundary makes the clock cross it under load.
const justBefore = 40

const jumps: ((now: number, random: () => number) => number)[] = [
  (now) => now - minute,
  (now) => now + minute,
  (now) => nextMonthStart(now) - justBefore,
  (now) => monthStart(now) - justBefore,
  () => leapDay - justBefore,
  () => leapDay + day - justBefore,
  (now) => hourStart(now) - justBefore,
  (_, random) => firstMonth + Math.floor(random() * (end - firstMonth)),
]

/** The clock jumps while signals are recorded, most of them for organisations that are near their limit. */
export const clock: Fault = {
  name: 'clock',
  title: "the clock jumping back, forward and across a month's end",
  engines: ['sqlite', 'postgres'],
  times: { full: 60, short: 8 },
  async run({ url, times, random }) {
    const accounts: Account[] = []
    for (const plan of ['business', 'free', 'free'] as const) accounts.push(await createAccount(url, plan))
    const service = new TestService()
    service.now = Date.UTC(2028, 1, 10, 9, 59, 59)
    const port = await openService(service, url)
    const ticking = setInterval(() => service.now++, 1)
    try {
      for (const account of accounts.slice(1)) await fillMonths(service, account)
      const senders = startSenders(() => port, accounts, 12)
      for (let i = 0; i < times; i++) {
        await pause(100 + random() * 300)
        // Each kind in turn, then at random.
        const jump = jumps[i < jumps.length ? i : Math.floor(random() * jumps.length)] as (typeof jumps)[0]
        service.now = Math.min(Math.max(jump(service.now, random), firstMonth), end)
      }
      await pause(200)
      await senders.stop()
      // The usage API lists the current month and those before it.
      service.now = end
      const totals = await reconcile(port, accounts, senders)
      if (totals.unknown > 0) throw new Error(`${totals.unknown} signals were not answered`)
      return { tried: `${times} jumps`, stored: totals.stored, rejected: totals.rejected }
    } finally {
      clearInterval(ticking)
      await stopService(service)
    }
  },
}

/** Brings an organisation to 100 signals below its limit, in each of the months. */
async function fillMonths(
  { store }: TestService,
  { organisationId, promptId: publicId, limit }: Account,
): Promise<void> {
  const { id: promptId } = (await store.prompts.find(organisationId, publicId)) as Prompt
  const metadata = `{"number":${importedNumber}}`
  async function* batches() {
    for (let month = firstMonth; month < end; month = nextMonthStart(month)) {
      yield Array.from({ length: limit - 100 }, (_, i) => {
        return { organisationId, promptId, value: 'positive' as const, metadata, createdAt: month + i * 1_000 }
      })
    }
  }
  await store.signals.import(batches())
}
