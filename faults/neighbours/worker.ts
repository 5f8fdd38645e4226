import { setTimeout as pause } from 'node:timers/promises'
import { eventually } from '../../testing/eventually.ts'
import { type Attack, check, type Site } from './attack.ts'
import { type Connected, connect, deliver, historyOf, metric } from './client.ts'
import { workerOf } from './memory.ts'

/** The worker process stops for a while, as in a hanging system call, and is then killed. */
export const stuckWorker: Attack = {
  name: 'worker: stopped, then killed',
  isLoad: true,
  async prepare(site) {
    const connected = await connect(site, site.attacker.key)
    return async () => {
      const pid = workerOf(site.service.process.pid as number)
      check(pid !== null, 'there is no worker process')
      process.kill(pid, 'SIGSTOP')
      const first = await push(site, connected, 'stopped')
      await pause(site.seconds * 1_000)
      process.kill(pid, 'SIGKILL')
      const second = await push(site, connected, 'killed')
      const start = performance.now()
      const areRecorded = async () => {
        const shas = (await historyOf(site, connected)).map(({ commit_sha }) => commit_sha)
        return shas.includes(first) && shas.includes(second)
      }
      await eventually(areRecorded, { timeoutMs: 60_000 })
      check((await metric(site, 'promptledger_worker_crashes_total')) >= 1, 'the crash is not counted')
      return `both pushes in the history ${Math.round(performance.now() - start)} ms after the kill`
    }
  },
}

async function push(site: Site, { git, hook, forge }: Connected, text: string): Promise<string> {
  const before = git.head('main')
  const after = git.commit(text, { 'prompts/p.md': `${text}\n` })
  git.push()
  check((await deliver(site, hook, forge.push({ before, after }))) === 202, 'a delivery was not accepted')
  return after
}
