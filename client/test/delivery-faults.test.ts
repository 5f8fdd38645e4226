import assert from 'node:assert/strict'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { armOf } from '../../server/src/domain/trials/assignment.ts'
import { onTestEnd } from '../../testing/cleanup.ts'
import { onOneEngine } from '../../testing/engines.ts'
import { eventually } from '../../testing/eventually.ts'
import { GitRepository } from '../../testing/git-repository.ts'
import { sampleClient, startServe } from '../../testing/processes.ts'
import { startTcpProxy } from '../../testing/tcp-proxy.ts'
import { Promptledger, type PromptText } from '../src/index.ts'
import { createFolder } from './delivering-service.ts'
import { numbersBelow } from './live-service.ts'

const prompt = 'prompts/p.md'
const share = 0.3
const clientCount = 200
const unitCount = 100
// How many failures show that a fault reached the clients.
const noticedFailures = 20
// Each failure doubles the time until a client asks again.
const refreshInterval = 1_000

onOneEngine('200 clients that fetch texts', (engine) => {
  test('no call fails and no unit changes its arm while the service is killed, slowed and cut off', async (t) => {
    const dataDir = await mkdtemp(join(tmpdir(), 'promptledger-data-'))
    onTestEnd(() => rm(dataDir, { recursive: true, force: true, maxRetries: 3 }))
    const env = {
      DATABASE_URL: (await engine.create()).url,
      DATA_DIR: dataDir,
      PROMPTLEDGER_SECRET_KEY: '0'.repeat(64),
      ALLOW_LOCAL_REPOSITORIES: '1',
    }
    let service = await startServe(env)
    const { key: apiKey } = sampleClient(service)
    const { git, trial } = await startTrial(new Promptledger({ apiKey, baseUrl: service.address }))
    const proxy = await startTcpProxy(() => [service.port])
    const folder = await createFolder()

    const clients: Promptledger[] = []
    onTestEnd(() => Promise.all(clients.map((client) => client.close({ timeout: 0 }))))
    let reports = 0
    const versions = new Map<string, Set<string | null>>()
    const failed: unknown[] = []
    let calls = 0

    function record(unit: string, { version }: PromptText): void {
      const seen = versions.get(unit) ?? new Set()
      versions.set(unit, seen.add(version))
    }

    async function pick(client: Promptledger, unit: string): Promise<void> {
      calls++
      await client.prompts.text(prompt, { unit, fallback: { text: 'none' } }).then(
        (text) => record(unit, text),
        (error) => failed.push(error),
      )
    }

    /** Starts more clients, which share the copy on disk, and has all of them choose for the same units. */
    async function pickWith(newClients: number): Promise<void> {
      for (const _ of numbersBelow(newClients)) {
        const onError = () => reports++
        const delivery = { folder, refreshInterval, onError }
        clients.push(new Promptledger({ apiKey, baseUrl: proxy.url, timeout: 2_000, delivery }))
      }
      await Promise.all(
        clients.flatMap((client, i) => numbersBelow(5).map((n) => pick(client, `user-${(i + n) % unitCount}`))),
      )
    }

    /** Starts more clients during a fault, and goes on until a part of all clients has noticed it. */
    async function pickDuring(fault: () => void | Promise<void>): Promise<void> {
      const before = reports
      await fault()
      await pickWith(clientCount / 4)
      await eventually(
        async () => {
          await pickWith(0)
          return reports >= before + noticedFailures
        },
        { intervalMs: 100 },
      )
    }

    // The others find its copy on disk, however slow the machine is.
    const first = new Promptledger({ apiKey, baseUrl: proxy.url, delivery: { folder } })
    await eventually(async () => {
      const { version } = await first.prompts.text(prompt, { fallback: { text: 'none' } })
      assert.notEqual(version, null)
    })
    await first.close()
    await pickWith(clientCount / 4)

    await pickDuring(() => service.kill())
    service = await startServe(env)
    await pickWith(0)

    await pickDuring(() => proxy.stall(true))
    proxy.stall(false)

    await pickDuring(() => proxy.refuse(true))
    proxy.refuse(false)

    // The service is back: a client that had only failures to report so far gets the document.
    const late = new Promptledger({ apiKey, baseUrl: proxy.url, delivery: { folder: null } })
    clients.push(late)
    await eventually(async () =>
      assert.notEqual((await late.prompts.text(prompt, { fallback: { text: '' } })).version, null),
    )
    await pickWith(0)

    assert.equal(clients.length, clientCount + 1)
    assert.deepEqual(failed, [])
    const [live, candidate] = [git.head('main'), git.head('candidate')]
    for (const [unit, seen] of versions) {
      assert.deepEqual([...seen], [armOf(trial, unit, share) === 'candidate' ? candidate : live], unit)
    }
    assert.equal(versions.size, unitCount)
    t.diagnostic(`${calls} calls, ${reports} faults reported`)
  })
})

/** Connects a repository whose branch `candidate` is tried on a share of the units. */
async function startTrial(ledger: Promptledger): Promise<{ git: GitRepository; trial: string }> {
  const git = new GitRepository()
  git.commit('Start', { [prompt]: 'Be kind.\n' })
  git.push()
  git.switchTo('candidate', 'main')
  const commit = git.commit('Change', { [prompt]: 'Be very kind.\n' })
  git.push('candidate:candidate')
  git.switchTo('main')
  await ledger.repositories.connect({ forge: 'github', url: git.remote, path: 'prompts/**' })
  await ledger.texts.updateSettings({ enabled: true })
  const { id } = await eventually(() => ledger.trials.start({ commit, share }))
  return { git, trial: id }
}
