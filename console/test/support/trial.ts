import assert from 'node:assert/strict'
import type { DeliveryDocument } from '../../../client/src/index.ts'
import { operator } from '../../../server/src/domain/access/audit.ts'
import { type Arm, armOf } from '../../../server/src/domain/trials/assignment.ts'
import { judgeTrial, readSituation } from '../../../server/src/domain/trials/judge-trial.ts'
import { openPull } from '../../../testing/operations.ts'
import type { Scenario } from '../../../testing/scenario.ts'
import type { TestService } from '../../../testing/service.ts'

const minuteMs = 60_000

/** Looks at all trials, as the service does every few seconds. */
export async function judge({ store, now }: TestService): Promise<void> {
  for (const trial of await store.trials.active(null)) {
    await judgeTrial(store, await readSituation(store, trial.organisationId), trial, now)
  }
}

/** Turns on text delivery, opens pull request 41 and starts a trial of it. Returns its ID. */
export async function startTrial(
  service: TestService,
  scenario: Scenario,
  body: object = { pull: 41, share: 0.5 },
): Promise<string> {
  await deliver(service, scenario)
  await openPull(scenario, 41)
  return (await send(scenario, 'POST', '/trials', body)).id as string
}

/** Turns on text delivery. */
export async function deliver(service: TestService, { tenant }: Scenario): Promise<void> {
  const settings = { enabled: true }
  await service.store.liveTexts.updateSettings(tenant.organisation.id, settings, service.now, operator)
  await service.storeLiveTexts()
}

interface Voting {
  count: number
  /** How many of each arm like it, from 0 to 1. */
  rates: Record<Arm, number>
  /** How many of each arm vote; everyone without it. */
  turnout?: Record<Arm, number>
}

/** An application during a trial: it chooses a text for each user, who then votes on it, and reports what it served. */
export async function vote(scenario: Scenario, { count, rates, turnout }: Voting): Promise<void> {
  const { service } = scenario
  // The days that are left are estimated from the votes of a time.
  service.now += minuteMs
  const { prompts } = (await send(scenario, 'GET', '/delivery')) as unknown as DeliveryDocument
  const prompt = prompts.find(({ path }) => path === 'prompts/p.md')
  assert.ok(prompt?.trial)
  const { id, trial, version } = prompt
  const served = { control: 0, candidate: 0 }
  const signals: object[] = []
  for (let i = 0; i < count; i++) {
    const voter = `user-${service.now}-${i}`
    const arm = armOf(trial.id, voter, trial.share)
    const number = served[arm]++
    const isDue = (rate: number) => Math.floor((number + 1) * rate) > Math.floor(number * rate)
    if (turnout !== undefined && !isDue(turnout[arm])) continue
    const value = isDue(rates[arm]) ? 'positive' : 'negative'
    signals.push({ prompt: id, value, version: arm === 'candidate' ? trial.version : version, voter })
  }
  const results = (await send(scenario, 'POST', '/signals', { signals })) as unknown as { status: number }[]
  assert.ok(results.every(({ status }) => status === 201))
  const exposures = [{ trial: trial.id, share: trial.share, ...served }]
  await send(scenario, 'POST', '/trials/exposures', { source: `process-${service.now}`, exposures })
  await judge(service)
}

/** Sends a request to the API, and returns its data. */
async function send(scenario: Scenario, method: 'GET' | 'POST', url: string, payload?: object) {
  const { app } = scenario.service
  const { headers } = scenario.tenant
  const response = await app.inject({ method, url: `/api/v1${url}`, headers, ...(payload && { payload }) })
  assert.ok(response.statusCode < 300, response.body)
  return (response.body === '' ? {} : response.json().data) as Record<string, unknown>
}
