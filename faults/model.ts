import fc from 'fast-check'
import { issueKey } from '../server/src/domain/access/api-key.ts'
import { operator } from '../server/src/domain/access/audit.ts'
import { newOrganisation } from '../server/src/domain/access/organisation.ts'
import { newPrompt } from '../server/src/domain/prompt.ts'
import { postgres, sqlite } from '../testing/engines.ts'
import { TestService } from '../testing/service.ts'
import { assertSumsAgree } from '../testing/signal-sums.ts'
import type { EngineName, Fault } from './fault.ts'
import { readEverything } from './model/actions/reads.ts'
import { actions } from './model/actions.ts'
import { type Counts, createClient } from './model/client.ts'
import { drawFrom, type Run } from './model/run.ts'
import type { Model, Plan, Prompt } from './model/state.ts'
import { crashService, openService, stopService } from './service.ts'
import { checkCounts } from './trial.ts'
import { weighted } from './weighted.ts'

const startedAt = Date.parse('2027-06-15T12:00:00.000Z')
const plans: Plan[] = ['free', 'free', 'free', 'team', 'business']
const maxCommands = 300
// Shrinking repeats the failed run many times. In npm test it has to end before the test times out.
const shortTimes = 400
const shortTimeoutMs = 150_000

/** The actions as commands that fast-check can print, leave out and repeat with smaller values. */
const commands = weighted<fc.AsyncCommand<object, Run>>(
  ...Object.entries(actions).map(([name, [weight, action]]) => {
    const command = fc.gen().map((generate) => ({
      check: () => true,
      run: (_: object, run: Run) => action(run, drawFrom(generate)),
      toString: () => `${name} ${fc.stringify(generate.values())}`,
    }))
    return [weight, command] as [number, typeof command]
  }),
)

/** Random actions on the service, with every response compared to a model's. `times` counts commands. */
export const model: Fault = {
  name: 'model',
  title: 'random requests, crashes and clock changes beside a model',
  engines: ['sqlite', 'postgres'],
  times: { full: 20_000, short: shortTimes },
  async run({ engine, times, random }) {
    const counts: Counts = { responses: 0, 'over the limit': 0, rejected: 0 }
    let [executed, recorded, restarts] = [0, 0, 0]
    const property = fc.asyncProperty(
      fc.commands([commands], { maxCommands: Math.min(maxCommands, times), size: 'max' }),
      fc.option(fc.integer({ min: 20, max: 120 })),
      async (sequence, retentionDays) => {
        const run = await startRun(engine, retentionDays, counts, () => restarts++)
        try {
          await fc.asyncModelRun(() => ({ model: {}, real: run }), sequence)
          await readEverything(run, startedAt)
          await checkCounts(run.service.url)
          await assertSumsAgree(run.service.url)
        } finally {
          executed += [...sequence].length
          recorded += run.model.signalIds.size
          await run.end()
        }
      },
    )
    await fc.assert(property, {
      seed: Math.floor(random() * 2 ** 31),
      includeErrorInReport: true,
      // A sequence has half of the maximum length on average.
      numRuns: Math.ceil((2 * times) / maxCommands),
      ...(times <= shortTimes && { interruptAfterTimeLimit: shortTimeoutMs }),
    })
    return { tried: `${executed.toLocaleString('en')} commands`, recorded, ...counts, restarts }
  },
}

/** Opens a service on a new database, with organisations that the model knows. */
async function startRun(
  engine: EngineName,
  retentionDays: number | null,
  counts: Counts,
  onRestart: () => void,
): Promise<Run & { end(): Promise<void> }> {
  const database = await { sqlite, postgres }[engine].create()
  const model: Model = { engine, organisations: [], signalIds: new Set(), retainedSince: 0 }
  const service = new TestService()
  service.now = startedAt
  let port = await openService(service, database.url)
  let names = 0
  for (const plan of plans) await createOrganisation(model, service, plan)

  async function reopen(end: (service: TestService) => Promise<void>): Promise<void> {
    await end(service)
    service.log.length = 0
    port = await openService(service, database.url)
    onRestart()
  }

  const client = createClient(model, () => ({ port, now: service.now }), counts)
  return {
    ...client,
    model,
    service,
    retentionDays,
    keyed: [],
    freshName: () => `name-${names++}`,
    restart: () => reopen(stopService),
    crash: () => reopen(crashService),
    async end() {
      client.close()
      await crashService(service)
      await database.remove()
    },
  }
}

/** An organisation with a key and prompts, as the operator creates them. */
async function createOrganisation({ organisations }: Model, { store, now }: TestService, plan: Plan): Promise<void> {
  const { id } = await store.organisations.create(newOrganisation(plan, plan, now))
  const terms = { name: 'first', role: 'admin' as const, prompts: null, createdAt: now, expiresAt: null }
  const { key, secret } = await issueKey(store.keys, { organisationId: id, ...terms }, operator)
  const prompts: Prompt[] = []
  for (const name of ['first', 'second', 'third']) {
    const { publicId } = await store.prompts.create(newPrompt(id, name, now), operator)
    prompts.push({ id: publicId, signals: [] })
  }
  const keys = [{ id: key.id, secret, createdAt: now, expiresAt: null, revokedAt: null }]
  organisations.push({ id, plan, keys, prompts, used: new Map(), idempotency: new Map() })
}
