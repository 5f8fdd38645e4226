import assert from 'node:assert/strict'
import { operator } from '../../../server/src/domain/access/audit.ts'
import { createInvitation } from '../../../server/src/domain/access/invitation.ts'
import { addAlert, addDelivery } from '../../../testing/alerts.ts'
import type { TestService } from '../../../testing/service.ts'
import { inBatches, signalFor } from '../../../testing/signals.ts'
import { addSource } from '../../../testing/sources.ts'
import { createChangedPrompt } from './changed-prompt.ts'
import { startTrial, vote } from './trial.ts'

/** IDs for the paths of pages with something to show on each. */
export interface Contents {
  key: string
  prompt: string
  /** The newest and the oldest change of the prompt. */
  entries: [newest: number, oldest: number]
  regression: number
  shift: string
  repository: number
  alert: string
  disabledAlert: string
  source: string
  trial: string
}

interface ConsolePage {
  path: (contents: Contents) => string
  /** Matches once the page has loaded. */
  shows: string
  /** The path responds with 404. */
  isMissing?: boolean
}

/** Every page of the console. A new page is one more line. reference.test.ts checks the API reference, which is long. */
export const consolePages: Record<string, ConsolePage> = {
  'the prompts page': { path: () => '/prompts', shows: '.row-link' },
  'a search without matches': { path: () => '/prompts?q=nothing', shows: '.empty-state' },
  'a prompt': { path: ({ prompt }) => `/prompts/${prompt}`, shows: '.chart-marker' },
  'a prompt with an open change': {
    path: ({ prompt, entries }) => `/prompts/${prompt}?entry=${entries[0]}`,
    shows: '.diff',
  },
  'the text of a prompt': { path: ({ prompt }) => `/prompts/${prompt}/text`, shows: '.text-line' },
  'the comparison of two versions': {
    path: ({ prompt, entries: [newest, oldest] }) => `/prompts/${prompt}/compare?a=${oldest}&b=${newest}`,
    // Side by side, or one below the other on a phone.
    shows: '.split-row, .diff',
  },
  'the signals of a prompt': { path: ({ prompt }) => `/prompts/${prompt}/signals`, shows: '.metadata' },
  'the signals of a change': {
    path: ({ prompt, entries }) => `/prompts/${prompt}/signals?change=${entries[0]}&side=after`,
    shows: '.filter-chip a',
  },
  'signals without a match': {
    path: ({ prompt, entries }) => `/prompts/${prompt}/signals?change=${entries[0]}&side=after&q=nothing`,
    shows: '.empty-state',
  },
  'the results of a search in texts': { path: () => '/texts?q=helper', shows: '.text-match mark' },
  'the regressions page': { path: () => '/regressions', shows: '.regression-loss' },
  'regressions of a state without any': { path: () => '/regressions?state=repaired', shows: '.empty-state' },
  'a shift': { path: ({ prompt, shift }) => `/prompts/${prompt}/shifts/${shift}`, shows: '#triage' },
  'a regression': {
    path: ({ prompt, regression }) => `/prompts/${prompt}/regressions/${regression}`,
    shows: '.regression-history',
  },
  'the trials page': { path: () => '/trials', shows: '.row-link' },
  'trials of a state without any': { path: () => '/trials?state=paused', shows: '.empty-state' },
  'a trial': { path: ({ trial }) => `/trials/${trial}`, shows: '.trial-difference' },
  'the usage page': { path: () => '/usage', shows: '[role=meter]' },
  'the repositories page': { path: () => '/repositories', shows: '.repository-name' },
  'a repository': { path: ({ repository }) => `/repositories/${repository}`, shows: '.delivery-event' },
  'the alerts page': { path: () => '/alerts', shows: '.alert-event' },
  'an alert': { path: ({ alert }) => `/alerts/${alert}`, shows: '.alert-event' },
  'a disabled alert': { path: ({ disabledAlert }) => `/alerts/${disabledAlert}`, shows: '.notice.bad' },
  'the sources page': { path: () => '/sources', shows: '.row-link' },
  'a source': { path: ({ source }) => `/sources/${source}`, shows: '.set-up-source' },
  'the keys page': { path: () => '/keys', shows: '.key-name' },
  'the people page': { path: () => '/people', shows: '#invitations' },
  'the audit log': { path: () => '/audit', shows: '.audit-hash' },
  'the settings': { path: () => '/settings', shows: '.limits' },
  'an unknown page': { path: () => '/nothing', shows: '.empty-state', isMissing: true },
}

/** An organisation with a regression, signals, deliveries, alerts and keys. */
export async function createContents(service: TestService): Promise<Contents> {
  const { scenario, prompt } = await createChangedPrompt(service)
  const { key, organisation } = scenario.tenant
  await service.key(organisation, 'ingest', service.now + 3_600_000)
  await scenario.send(scenario.forge.ping())
  const joined = { organisationId: organisation.id, email: 'ada@example.com', name: 'Ada', subject: null } as const
  const terms = { role: 'member', roleFrom: 'invitation', createdAt: service.now } as const
  await service.store.people.add({ ...joined, ...terms })
  const invited = { organisationId: organisation.id, role: 'viewer', email: null } as const
  await createInvitation(service.store.invitations, invited, service.now, operator)
  service.judge.touch(organisation.id, prompt.id)
  await service.judge.round()
  const [regression] = await service.store.regressions.ofPrompt(prompt)
  assert.ok(regression)
  const shift = `shf_${'5f1c'.repeat(6)}`
  const at = service.now - 3 * 86_400_000
  const moved = { between: [at, at] as [number, number], rateBefore: 0.9, rateAfter: 0.6, foundAt: service.now }
  await service.store.shifts.replace(prompt, [
    { id: shift, at, ...moved, entryId: null, sharedWith: null, candidates: null },
  ])
  const [active, disabled] = [await addAlert(service, organisation.id), await addAlert(service, organisation.id)]
  for (const state of ['pending', 'sent', 'failed', 'cancelled']) {
    await addDelivery(service, active, { state, response: 'ok', status: 500, error: 'No.', finished_at: service.now })
  }
  await service.store.alerts.disable(disabled, 'The receiver responded with 410.', service.now)
  const { source } = await addSource(service, organisation.id)
  const lastRejection = 'the value "meh" is not known'
  const [lastReceivedAt, lastRecordedAt, lastRejectedAt] = Array(3).fill(service.now)
  const times = { lastReceivedAt, lastRecordedAt, lastRejectedAt, lastRejection }
  await service.store.sources.count(source, { received: 3, recorded: 2, rejected: 1, ...times })
  const trial = await startTrial(service, scenario, { pull: 41, ramp: { shares: [0.5, 0.8], votes: 200 } })
  await vote(scenario, { count: 40, rates: { control: 0.8, candidate: 0.7 } })
  const metadata = JSON.stringify({ model: 'small', trace: '4bf92f35' })
  const signal = signalFor(scenario.tenant, { promptId: prompt.id, metadata })
  await service.store.signals.import(inBatches([signal]))
  const history = await service.app.inject({
    url: `/api/v1/prompts/${prompt.publicId}/history`,
    headers: { authorization: `Bearer ${key}` },
  })
  const ids = history
    .json()
    .data.filter(({ action }: { action: string }) => action !== 'pr_opened')
    .map(({ id }: { id: number }) => id)
  return {
    key,
    prompt: prompt.publicId,
    entries: [ids[0], ids.at(-1)],
    regression: regression.id,
    shift,
    repository: scenario.repository.id,
    alert: active.publicId,
    disabledAlert: disabled.publicId,
    source: source.publicId,
    trial,
  }
}
