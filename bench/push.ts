import { execFile } from 'node:child_process'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { eventually } from '../testing/eventually.ts'
import { deliveriesFrom } from '../testing/payloads/deliveries.ts'
import { serve } from '../testing/processes.ts'
import { generateRepository } from '../testing/sample-repository.ts'
import {
  type ConnectedRepository,
  connectRepository,
  createOwner,
  type Installation,
  webhookAt,
} from './installation.ts'
import { type Percentiles, percentiles } from './statistics.ts'

const run = promisify(execFile)
const pushes = 30
const pollIntervalMs = 3

/** Milliseconds from sending the delivery of a completed push until the history lists the entry. */
export async function measurePush(installation: Installation, folder: string): Promise<Percentiles> {
  const remote = join(folder, `push-${installation.engine}.git`)
  const checkout = join(folder, `push-${installation.engine}`)
  await generateRepository(remote, 5_000, 100)
  await run('git', ['clone', '--quiet', remote, checkout])
  const owner = await createOwner(installation)
  const { value: connected } = await connectRepository(installation, owner, remote)
  const service = await serve(installation.url, installation.env)
  const forge = deliveriesFrom('github', connected.webhook_secret)
  const headers = { authorization: `Bearer ${owner.key}` }
  const latencies: number[] = []
  for (let i = 0; i < pushes; i++) {
    const { id, path } = connected.prompts[i] as ConnectedRepository['prompts'][0]
    const { before, after } = await pushChange(checkout, path, `Be kind, version ${i}.\n`)
    const delivery = forge.push({ before, after, commits: [{ sha: after }] })
    const startedAt = performance.now()
    const response = await fetch(webhookAt(service.port, connected), {
      method: 'POST',
      headers: delivery.headers,
      body: new Uint8Array(delivery.body),
    })
    if (response.status !== 202) throw new Error(`the delivery was answered with ${response.status}`)
    const history = `${service.address}/api/v1/prompts/${id}/history?limit=1`
    await eventually(
      async () => {
        const { data } = (await (await fetch(history, { headers })).json()) as { data: { commit_sha: string }[] }
        return data[0]?.commit_sha === after
      },
      { timeoutMs: 60_000, intervalMs: pollIntervalMs },
    )
    latencies.push(performance.now() - startedAt)
  }
  await service.stop()
  return percentiles(latencies)
}

/** Commits and pushes a change, and returns the branch's commits before and after. */
async function pushChange(checkout: string, path: string, text: string): Promise<{ before: string; after: string }> {
  const git = async (...args: string[]) => (await run('git', ['-C', checkout, ...args])).stdout.trim()
  const before = await git('rev-parse', 'HEAD')
  await writeFile(join(checkout, path), text)
  const author = ['-c', 'user.name=Ada', '-c', 'user.email=ada@example.com']
  await git(...author, 'commit', '--quiet', '--all', '--message', `Change ${path}`)
  await git('push', '--quiet', 'origin', 'main')
  return { before, after: await git('rev-parse', 'HEAD') }
}
