import { randomBytes } from 'node:crypto'
import { join } from 'node:path'
import { measureCli } from '../testing/cli.ts'
import { GitRepository } from '../testing/git-repository.ts'
import { deliveriesFrom } from '../testing/payloads/deliveries.ts'
import type { Delivery } from '../testing/payloads/facts.ts'
import { queryRows } from '../testing/rows.ts'
import { pause } from './voters.ts'

/** A repository that is followed, and somebody who pushes to it again and again. */
export interface Pushes {
  /** What the service needs to follow it. */
  env: NodeJS.ProcessEnv
  /** The forge tells of each push until it is answered. */
  start(portOf: () => number): void
  stop(): Promise<void>
  /** Gives the number of pushes that were told, all of which made their way into the history. Throws where one did not. */
  check(): Promise<number>
}

const path = 'prompts/a.md'
const patience = 60_000

export async function newPushes(url: string, organisationId: number, folder: string, most: number): Promise<Pushes> {
  const git = new GitRepository()
  const commits = Array.from({ length: most + 1 }, (_, i) => git.commit(`change ${i}`, { [path]: `version ${i}\n` }))
  git.push('HEAD:refs/heads/to-come', `${commits[0]}:refs/heads/main`)
  const env = {
    DATABASE_URL: url,
    DATA_DIR: join(folder, 'data'),
    PROMPTLEDGER_SECRET_KEY: randomBytes(32).toString('hex'),
  }
  const org = ['--org', String(organisationId)]
  const { value } = await measureCli<{ webhook_url: string; webhook_secret: string }>(
    { ...env, ALLOW_LOCAL_REPOSITORIES: '1' },
    ['repo', 'connect', ...org, '--forge', 'github', '--url', git.remote, '--path', 'prompts/**'],
  )
  const forge = deliveriesFrom('github', value.webhook_secret)
  const hook = new URL(value.webhook_url).pathname
  let told = 0
  let stopped = false
  let telling = Promise.resolve()

  async function tell(portOf: () => number): Promise<void> {
    while (!stopped && told < most) {
      const [before = null, after = null] = commits.slice(told, told + 2)
      git.inRemote('update-ref', 'refs/heads/main', after as string)
      const delivery = forge.push({ before, after })
      while (!(await isAccepted(portOf(), hook, delivery))) await pause(20)
      told++
      await pause(50)
    }
  }

  return {
    env,
    start(portOf) {
      telling = tell(portOf)
    },
    async stop() {
      stopped = true
      await telling
    },
    async check() {
      const deadline = performance.now() + patience
      for (;;) {
        const [row] = await queryRows(
          url,
          `select (select count(*) from deliveries) as stored, (select count(*) from deliveries where state = 'done') as done,
             (select count(*) from history_entries) as entries`,
        )
        const [stored, done, entries] = [row?.stored, row?.done, row?.entries].map(Number)
        if (stored !== told) throw new Error(`${told} deliveries were accepted, ${stored} are stored`)
        if (done === told && entries === told + 1) break
        if (performance.now() > deadline) {
          throw new Error(`of ${told} pushes ${done} are worked on, and ${entries} entries stored`)
        }
        await pause(100)
      }
      git.remove()
      return told
    },
  }
}

async function isAccepted(port: number, hook: string, { headers, body }: Delivery): Promise<boolean> {
  const answer = await fetch(`http://127.0.0.1:${port}${hook}`, {
    method: 'POST',
    headers,
    body: new Uint8Array(body),
  }).catch(() => null)
  return answer?.status === 202
}
