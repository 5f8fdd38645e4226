// Runs the service behind the proxy of the tests, and does what a test in another language asks for: each line of the
// input is a command with its arguments, and each line of the output its result. Ends with its input.
import { renameSync } from 'node:fs'
import type { AddressInfo } from 'node:net'
import { createInterface } from 'node:readline'
import { operator } from '../../server/src/domain/access/audit.ts'
import { syncOnce } from '../../server/src/follow/worker.ts'
import { addDelivery } from '../../testing/alerts.ts'
import { postgres, sqlite } from '../../testing/engines.ts'
import { eventually } from '../../testing/eventually.ts'
import { GitRepository } from '../../testing/git-repository.ts'
import { type Fate, HttpProxy } from '../../testing/http-proxy.ts'
import { openPull } from '../../testing/operations.ts'
import { deliveriesFrom } from '../../testing/payloads/deliveries.ts'
import { startReceiver } from '../../testing/receiver.ts'
import { connectedScenario } from '../../testing/scenario.ts'
import { type Tenant, TestService } from '../../testing/service.ts'
import { globalSetup, globalTeardown } from '../../testing/setup.ts'
import { withoutKeys } from '../../testing/trials.ts'

const engine = process.argv[2] === 'postgres' ? postgres : sqlite
// In a test run there is a server already, with a template.
const isAlone = engine === postgres && process.env.TEST_POSTGRES_TEMPLATE === undefined
if (isAlone) await globalSetup()
const service = new TestService()
await service.open(engine)
await service.app.listen({ port: 0, host: '127.0.0.1' })
const { port } = service.app.server.address() as AddressInfo
const proxy = new HttpProxy()
await proxy.open(port)
const tenants = new Map<string, Tenant>()
const repositories: GitRepository[] = []
let servedCount = 0
service.app.server.on('request', (_request, response) => response.once('close', () => servedCount++))

// biome-ignore lint/suspicious/noExplicitAny: the tests in Python know the arguments.
type Arguments = any

function tenantOf(key: string): Tenant {
  const tenant = tenants.get(key)
  if (tenant === undefined) throw new Error('no tenant has this key')
  return tenant
}

const commands: Record<string, (args: Arguments) => unknown> = {
  address: () => ({ proxy: proxy.address, service: `http://127.0.0.1:${port}` }),

  async tenant({ plan = 'free', role = 'standard' }) {
    const tenant = await service.tenant(plan, role)
    tenants.set(tenant.key, tenant)
    return { key: tenant.key, prompt: tenant.prompt.publicId }
  },

  key: ({ key, role }) => service.key(tenantOf(key).organisation, role),

  /** The first requests meet these fates in order, the others the last one; `every` repeats all of them. */
  fates({ fates, every = false, path = null }: { fates: Fate[]; every?: boolean; path?: string | null }) {
    proxy.reset()
    let count = 0
    proxy.fate = (_, { url }) => {
      if (path !== null && url !== path) return { do: 'pass' }
      const index = every ? count % fates.length : Math.min(count, fates.length - 1)
      count++
      return fates[index] ?? { do: 'pass' }
    }
  },

  requests: () => ({ requests: proxy.requests, inFlight: proxy.inFlight, servedCount }),

  release: () => proxy.release(),

  closeProxy: () => proxy.close(),
  openProxy: () => proxy.open(port, Number(new URL(proxy.address).port)),

  /** Sets the clock of the service; without a time, it follows the real one from now on. */
  clock({ now = null }) {
    if (now === null) Object.defineProperty(service, 'now', { configurable: true, get: Date.now, set() {} })
    else Object.defineProperty(service, 'now', { configurable: true, writable: true, value: Date.parse(now) })
  },

  fillMonth: ({ key, count }) => tenantOf(key).fillMonth(count),
  used: ({ key }) => tenantOf(key).used(),
  setPlan: ({ key, plan }) =>
    service.store.organisations.setPlan(tenantOf(key).organisation.id, plan, service.now, operator),

  async entries({ key, first, count }) {
    for (let number = first; number < first + count; number++) {
      const createdAt = service.now - 3_600_000 + number * 1_000
      await tenantOf(key).recordEntry({
        branchName: `b${number}`,
        commitSha: number.toString(16).padStart(40, '0'),
        createdAt,
      })
    }
  },

  async regression({ key }) {
    const tenant = tenantOf(key)
    const entry = await tenant.recordEntry()
    const rates = { rateBefore: 0.9, rateAfter: 0.8, difference: -0.1, explanation: 'Fewer votes are positive.' }
    const figures = { ...rates, evidence: null, signalsBefore: 400, signalsAfter: 300, liveFrom: null }
    const { regressions, shifts } = service.store
    await regressions.open(tenant.prompt, entry, { ...figures, interval: [-0.2, -0.05] }, service.now)
    const between: [number, number] = [service.now - 1_000, service.now]
    await shifts.replace(tenant.prompt, [
      {
        at: between[0],
        between,
        ...figures,
        entryId: entry.id,
        sharedWith: null,
        candidates: null,
        foundAt: service.now,
      },
      { at: between[1], between, ...figures, entryId: null, sharedWith: null, candidates: null, foundAt: service.now },
    ])
    return entry.id
  },

  receiver: async () => (await startReceiver()).url,

  async failedDelivery({ key }) {
    const [alert] = await service.store.alerts.list(tenantOf(key).organisation.id)
    if (alert === undefined) throw new Error('the tenant has no alert')
    return addDelivery(service, alert, { state: 'failed', finished_at: service.now })
  },

  repository() {
    const git = new GitRepository()
    repositories.push(git)
    const commit = git.commit('Start', { 'prompts/p.md': 'Be kind.\n' })
    git.push()
    return { url: git.remote, commit }
  },

  /** An organisation with delivered texts, whose `prompts/p.md` is tried on a share of the units. */
  async delivering({ share = null }) {
    const scenario = await connectedScenario(service)
    const { tenant, git } = scenario
    repositories.push(git)
    tenants.set(tenant.key, tenant)
    await service.store.liveTexts.updateSettings(tenant.organisation.id, { enabled: true }, service.now, operator)
    await service.storeLiveTexts()
    const prompt = await scenario.promptId('prompts/p.md')
    const live = git.head('main')
    if (share === null) return { key: tenant.key, prompt, live, trial: null, candidate: null }
    const candidate = await openPull(scenario, 41)
    const { headers } = tenant
    const payload = { pull: 41, share }
    const response = await service.app.inject({ method: 'POST', url: '/api/v1/trials', headers, payload })
    return { key: tenant.key, prompt, live, trial: response.json().data.id, candidate }
  },

  async exposures({ key, trial }) {
    const found = await service.store.trials.find(tenantOf(key).organisation.id, trial)
    return found && withoutKeys(await service.store.trials.exposures(found))
  },

  rename({ url }) {
    const renamed = `${url}-renamed.git`
    renameSync(url, renamed)
    return renamed
  },

  async deliver({ url, secret, repositoryId }) {
    const { headers, body } = deliveriesFrom('github', secret).ping()
    await service.app.inject({ method: 'POST', url: new URL(url).pathname, headers, payload: body })
    await syncOnce(service.syncContext, repositoryId)
  },

  untilIdle: () =>
    eventually(() => {
      if (proxy.inFlight > 0) throw new Error(`${proxy.inFlight} requests are in flight`)
    }),
}

for await (const line of createInterface({ input: process.stdin })) {
  const { command, ...args } = JSON.parse(line)
  try {
    const result = await commands[command]?.(args)
    process.stdout.write(`${JSON.stringify({ result: result ?? null })}\n`)
  } catch (error) {
    process.stdout.write(`${JSON.stringify({ error: String(error) })}\n`)
  }
}
for (const git of repositories) git.remove()
await proxy.close()
await service.close()
if (isAlone) await globalTeardown()
// Requests that a test delayed and gave up on would still wait.
process.exit()
