import assert from 'node:assert/strict'
import { generateSecret, newApiKey, type Role } from '../server/src/domain/access/api-key.ts'
import { operator } from '../server/src/domain/access/audit.ts'
import type { TrialMessage } from '../server/src/domain/alerts/message.ts'
import type { ReportOnPull } from '../server/src/domain/alerts/pull-comment.ts'
import { armOf } from '../server/src/domain/trials/assignment.ts'
import type { Trial } from '../server/src/domain/trials/trial.ts'
import { createTrialRounds } from '../server/src/service/trials.ts'
import { openPull } from './operations.ts'
import { seededRandom } from './random.ts'
import { connectedScenario, type Scenario } from './scenario.ts'
import type { TestService } from './service.ts'

/** The prompt that pull request 41 changes. */
export const path = 'prompts/p.md'

interface Response {
  statusCode: number
  json(): { data: Record<string, unknown> & { id: string }; error: { message: string; trial_id?: string } }
}

/** Trials of a connected repository, judged when the test says so. */
export function useTrials(service: TestService) {
  async function deliveringScenario(): Promise<Scenario> {
    const scenario = await connectedScenario(service)
    await service.store.liveTexts.updateSettings(
      scenario.tenant.organisation.id,
      { enabled: true },
      service.now,
      operator,
    )
    await service.storeLiveTexts()
    return scenario
  }

  function send(
    scenario: Scenario,
    method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE',
    url: string,
    payload?: object,
    key?: string,
  ) {
    const headers = key === undefined ? scenario.tenant.headers : { authorization: `Bearer ${key}` }
    return service.app.inject({ method, url: `/api/v1${url}`, headers, ...(payload && { payload }) })
  }

  async function started(scenario: Scenario, body: object = { pull: 41, share: 0.5 }) {
    const head = await openPull(scenario, 41)
    const response: Response = await send(scenario, 'POST', '/trials', body)
    assert.equal(response.statusCode, 201, JSON.stringify(response.json()))
    const { id } = response.json().data
    return { head, id, live: scenario.git.head('main') }
  }

  async function keyOf({ tenant }: Scenario, role: Role, prompts: string | null = null): Promise<string> {
    const secret = generateSecret()
    const { id: organisationId } = tenant.organisation
    await service.store.keys.create(
      newApiKey(secret, { organisationId, name: 'limited', role, prompts, createdAt: 1, expiresAt: null }),
      operator,
    )
    return secret
  }

  async function servedTrial(scenario: Scenario): Promise<{ id: string; share: number; text: string } | null> {
    const { data } = (await send(scenario, 'GET', '/delivery')).json()
    return data.prompts.find((prompt: { path: string }) => prompt.path === path).trial
  }

  const trialOf = async ({ tenant }: Scenario, id: string) =>
    (await service.store.trials.find(tenant.organisation.id, id)) as Trial

  const shown: TrialMessage[] = []
  const sent = { outcome: 'sent', status: 200, response: null, error: null } as const
  const reportOnPull: ReportOnPull = async (message) => {
    if ('trial' in message) shown.push(message)
    return sent
  }
  const newRounds = (report = reportOnPull) =>
    createTrialRounds({
      store: service.store,
      clock: () => service.now,
      log: console as never,
      reportOnPull: report,
      repositories: service.repositories,
      hasWriteAccess: async () => false,
    })
  let rounds: ReturnType<typeof createTrialRounds> | null = null
  const judge = async () => {
    rounds ??= newRounds()
    await rounds.round()
    await rounds.idle()
  }

  /** Stores votes of units that were assigned by this share, each with the version that it got. */
  async function vote(
    scenario: Scenario,
    {
      id,
      head,
      live,
      share = 0.5,
      count,
      rates,
      units = 'u',
      choose = armOf,
      metadata = null,
    }: {
      id: string
      head: string
      live: string
      share?: number
      count: number
      rates: { control: number; candidate: number }
      units?: string
      choose?: typeof armOf
      metadata?: object | null
    },
  ): Promise<void> {
    const { organisation } = scenario.tenant
    const [prompt] = await service.store.prompts.named(organisation.id, path)
    const random = seededRandom(5)
    const signals = Array.from({ length: count }, (_, i) => {
      const unit = `${units}${i}`
      const arm = choose(id, unit, share)
      return {
        organisationId: organisation.id,
        promptId: prompt?.id as number,
        value: random() < rates[arm] ? ('positive' as const) : ('negative' as const),
        metadata: metadata && JSON.stringify(metadata),
        createdAt: service.now + i,
        details: {
          version: arm === 'candidate' ? head : live,
          voter: unit.padStart(43, '0'),
          subject: null,
          comment: null,
          occurredAt: null,
          traceId: null,
        },
      }
    })
    await service.store.signals.import(
      (async function* () {
        yield signals
      })(),
    )
    service.now += count
  }

  /** The events that people were told about the trial. */
  const eventsOf = async ({ tenant }: Scenario, id: string) =>
    (await service.store.notices.subjects(tenant.organisation.id, 'trial'))
      .filter((subject) => subject.startsWith(id))
      .map((subject) => subject.slice(id.length + 1))
      .sort()
  return {
    deliveringScenario,
    send,
    started,
    keyOf,
    servedTrial,
    trialOf,
    shown,
    newRounds,
    /** Lets another process judge. */
    release: async () => rounds?.release(),
    judge,
    vote,
    eventsOf,
  }
}

/** What clients reported, without the keys that they used. */
export function withoutKeys<Report extends { keyId: unknown }>(reports: Report[]): Omit<Report, 'keyId'>[] {
  return reports.map(({ keyId, ...report }) => report)
}
