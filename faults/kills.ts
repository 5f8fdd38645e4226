import { type Account, createAccount } from '../testing/account.ts'
import { type RunningProcess, serve } from '../testing/processes.ts'
import type { Fault } from './fault.ts'
import { newPushes } from './pushes.ts'
import { tallyUp } from './tally.ts'
import { pause, startVoting } from './voters.ts'

/** The service is killed at random moments under full load, and starts again each time by itself. */
export const kills: Fault = {
  name: 'kills',
  title: 'the service killed under full load',
  engines: ['sqlite', 'postgres'],
  times: { full: 200, short: 3 },
  async run({ url, folder, times, random }) {
    const accounts: Account[] = []
    for (const plan of ['business', 'business', 'free'] as const) accounts.push(await createAccount(url, plan))
    const { organisationId } = accounts[0] as Account
    const pushes = await newPushes(url, organisationId, folder, times * 2)
    let running: RunningProcess = await serve(url, pushes.env)
    const votes = startVoting(() => running.port, accounts, 16)
    pushes.start(() => running.port)
    for (let time = 0; time < times; time++) {
      await pause(20 + random() * 300)
      await running.kill()
      running = await serve(url, pushes.env)
    }
    await pause(200)
    await votes.stop()
    await pushes.stop()
    const tally = await tallyUp(running.port, accounts, votes)
    const deliveries = await pushes.check()
    await running.stop()
    return { tried: `${times} kills`, ...tally, deliveries }
  },
}
