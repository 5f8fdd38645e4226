import { setTimeout as pause } from 'node:timers/promises'
import { type Account, createAccount } from '../testing/account.ts'
import { serve } from '../testing/processes.ts'
import type { Fault } from './fault.ts'
import { preparePushes } from './pushes.ts'
import { reconcile } from './reconcile.ts'
import { startSenders } from './senders.ts'
import { startVoters } from './voters.ts'

/** The service is killed at random moments under full load, and started again. */
export const kills: Fault = {
  name: 'kills',
  title: 'the service killed under full load',
  engines: ['sqlite', 'postgres'],
  times: { full: 200, short: 2 },
  async run({ url, folder, times, random }) {
    const accounts: Account[] = []
    for (const plan of ['business', 'business', 'free'] as const) accounts.push(await createAccount(url, plan))
    const { organisationId } = accounts[0] as Account
    const pushes = await preparePushes(url, organisationId, folder, times * 2)
    let service = await serve(url, pushes.env)
    const senders = startSenders(() => service.port, accounts, 16)
    const voters = startVoters(() => service.port, await createAccount(url, 'business'), 4)
    pushes.start(() => service.port)
    for (let time = 0; time < times; time++) {
      await pause(20 + random() * 300)
      await service.kill()
      service = await serve(url, pushes.env)
    }
    await pause(200)
    await senders.stop()
    await voters.stop()
    await pushes.stop()
    const totals = await reconcile(service.port, accounts, senders)
    const votes = await voters.check(url, service.port)
    const deliveries = await pushes.check()
    await service.stop()
    return { tried: `${times} kills`, ...totals, votes, deliveries }
  },
}
