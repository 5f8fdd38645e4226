import { once } from 'node:events'
import { type Running, serve, stop } from '../bench/processes.ts'
import type { Fault } from './fault.ts'
import { newSubject } from './subject.ts'
import { tallyUp } from './tally.ts'
import { pause, startVoting } from './voters.ts'

/** The service is killed at random moments under full load, and starts again each time by itself. */
export const kills: Fault = {
  name: 'kills',
  title: 'the service killed under full load',
  engines: ['sqlite', 'postgres'],
  times: { full: 200, short: 3 },
  async run({ url, times, random }) {
    const subjects = [
      await newSubject(url, 'business'),
      await newSubject(url, 'business'),
      await newSubject(url, 'free'),
    ]
    let running: Running = await serve(url)
    const votes = startVoting(() => running.port, subjects, 16)
    for (let kill = 0; kill < times; kill++) {
      await pause(20 + random() * 300)
      const ended = once(running.process, 'exit')
      running.process.kill('SIGKILL')
      await ended
      running = await serve(url)
    }
    await pause(200)
    await votes.stop()
    const tally = await tallyUp(running.port, subjects, votes)
    await stop(running)
    return { tried: `${times} kills`, ...tally }
  },
}
