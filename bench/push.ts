import { execFile } from 'node:child_process'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { promisify } from 'node:util'
import { deliveries } from '../testing/payloads.ts'
import { serve, stop } from '../testing/processes.ts'
import { makeRepository } from '../testing/sample-repository.ts'
import { connect, newOrganisation, type Place, webhookAt } from './connected.ts'
import { type Percentiles, percentiles } from './median.ts'

const run = promisify(execFile)
const pushes = 30
const lookEvery = 3

/** Milliseconds from when a push is through and its delivery is sent until the history shows the entry. */
export async function measurePush(place: Place, folder: string): Promise<Percentiles> {
  const remote = join(folder, `push-${place.name}.git`)
  const checkout = join(folder, `push-${place.name}`)
  await makeRepository(remote, 5_000, 100)
  await run('git', ['clone', '--quiet', remote, checkout])
  const organisation = await newOrganisation(place)
  const { value: connected } = await connect(place, organisation, remote)
  const service = await serve(place.url, place.env)
  const forge = deliveries('github', connected.webhook_secret)
  const headers = { authorization: `Bearer ${organisation.key}` }
  const waits: number[] = []
  for (let i = 0; i < pushes; i++) {
    const { id, path } = connected.prompts[i] as Connected['prompts'][0]
    const before = await head(checkout)
    await writeFile(join(checkout, path), `Be kind, the ${i}th time.\n`)
    const author = ['-c', 'user.name=Ada', '-c', 'user.email=ada@example.com']
    await run('git', ['-C', checkout, ...author, 'commit', '--quiet', '--all', '--message', `Change ${path}`])
    await run('git', ['-C', checkout, 'push', '--quiet', 'origin', 'main'])
    const after = await head(checkout)
    const delivery = forge.push({ before, after, commits: [{ sha: after }] })
    const history = `http://127.0.0.1:${service.port}/api/v1/prompts/${id}/history?limit=1`
    const startedAt = performance.now()
    const answer = await fetch(webhookAt(service.port, connected), {
      method: 'POST',
      headers: delivery.headers,
      body: new Uint8Array(delivery.body),
    })
    if (answer.status !== 202) throw new Error(`the delivery was answered with ${answer.status}`)
    for (;;) {
      const { data } = (await (await fetch(history, { headers })).json()) as { data: { commit_sha: string }[] }
      if (data[0]?.commit_sha === after) break
      await pause(lookEvery)
    }
    waits.push(performance.now() - startedAt)
  }
  await stop(service)
  return percentiles(waits)
}

type Connected = Awaited<ReturnType<typeof connect>>['value']

async function head(checkout: string): Promise<string> {
  const { stdout } = await run('git', ['-C', checkout, 'rev-parse', 'HEAD'])
  return stdout.trim()
}
