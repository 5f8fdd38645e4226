import { randomBytes } from 'node:crypto'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { measureCli } from '../testing/cli.ts'
import { eventually } from '../testing/eventually.ts'
import { GitRepository } from '../testing/git-repository.ts'
import { deliveriesFrom } from '../testing/payloads/deliveries.ts'
import type { Delivery } from '../testing/payloads/facts.ts'
import { queryRows } from '../testing/rows.ts'

/** A connected repository that receives pushes. */
export interface Pushes {
  /** The settings of the service that syncs it. */
  env: NodeJS.ProcessEnv
  /** Starts pushing. The forge repeats each delivery until it is accepted. */
  start(port: () => number): void
  stop(): Promise<void>
  /** Waits until every accepted push is in the history, and returns how many there are. */
  check(): Promise<number>
}

const path = 'prompts/a.md'
const syncTimeoutMs = 180_000

export async function preparePushes(
  url: string,
  organisationId: number,
  folder: string,
  maxPushes: number,
): Promise<Pushes> {
  const git = new GitRepository()
  const commits = Array.from({ length: maxPushes + 1 }, (_, i) =>
    git.commit(`change ${i}`, { [path]: `version ${i}\n` }),
  )
  git.push('HEAD:refs/heads/to-come', `${commits[0]}:refs/heads/main`)
  const env = {
    DATABASE_URL: url,
    DATA_DIR: join(folder, 'data'),
    PROMPTLEDGER_SECRET_KEY: randomBytes(32).toString('hex'),
  }
  const { value } = await measureCli<{ webhook_url: string; webhook_secret: string }>(
    { ...env, ALLOW: 'local-repositories' },
    ['repo', 'connect', '--org', String(organisationId), '--forge', 'github', '--url', git.remote, '--path', path],
  )
  const forge = deliveriesFrom('github', value.webhook_secret)
  const hook = new URL(value.webhook_url).pathname
  let [accepted, stopped] = [0, false]
  let pushing = Promise.resolve()

  async function push(port: () => number): Promise<void> {
    while (!stopped && accepted < maxPushes) {
      const [before = null, after = null] = commits.slice(accepted, accepted + 2)
      git.inRemote('update-ref', 'refs/heads/main', after as string)
      const delivery = forge.push({ before, after })
      await eventually(() => isAccepted(port(), hook, delivery), { timeoutMs: syncTimeoutMs })
      accepted++
      await pause(50)
    }
  }

  return {
    env,
    start(port) {
      pushing = push(port)
    },
    async stop() {
      stopped = true
      await pushing
    },
    async check() {
      const expected = { stored: accepted, done: accepted, entries: accepted + 1 }
      await eventually(
        async () => {
          const [row] = await queryRows(
            url,
            `select (select count(*) from deliveries) as stored, (select count(*) from deliveries where state = 'done') as done,
               (select count(*) from history_entries) as entries`,
          )
          const counts = { stored: Number(row?.stored), done: Number(row?.done), entries: Number(row?.entries) }
          if (JSON.stringify(counts) === JSON.stringify(expected)) return
          throw new Error(`${JSON.stringify(counts)} instead of ${JSON.stringify(expected)}`)
        },
        { timeoutMs: syncTimeoutMs, intervalMs: 100 },
      )
      git.remove()
      return accepted
    },
  }
}

async function isAccepted(port: number, hook: string, { headers, body }: Delivery): Promise<boolean> {
  const response = await fetch(`http://127.0.0.1:${port}${hook}`, {
    method: 'POST',
    headers,
    body: new Uint8Array(body),
  })
  return response.status === 202
}
