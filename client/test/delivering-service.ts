import assert from 'node:assert/strict'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { operator } from '../../server/src/domain/access/audit.ts'
import { onTestEnd } from '../../testing/cleanup.ts'
import { eventually } from '../../testing/eventually.ts'
import { openPull } from '../../testing/operations.ts'
import { connectedScenario, type Scenario } from '../../testing/scenario.ts'
import type { TestService } from '../../testing/service.ts'
import type { ClientOptions, DeliveryOptions, Promptledger } from '../src/index.ts'
import type { LiveService } from './live-service.ts'

/** An organisation whose prompts `prompts/p.md` and `prompts/q.md` are delivered. */
export async function deliveringScenario(service: TestService): Promise<Scenario> {
  const scenario = await connectedScenario(service)
  const { organisation } = scenario.tenant
  await service.store.liveTexts.updateSettings(organisation.id, { enabled: true }, service.now, operator)
  await service.storeLiveTexts()
  return scenario
}

/** Tries a pull request on `prompts/p.md`. */
export async function startTrial(scenario: Scenario, share: number): Promise<{ id: string; head: string }> {
  const head = await openPull(scenario, 41)
  const { service, tenant } = scenario
  const payload = { pull: 41, share }
  const response = await service.app.inject({
    method: 'POST',
    url: '/api/v1/trials',
    headers: tenant.headers,
    payload,
  })
  return { id: response.json().data.id, head }
}

export async function createFolder(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'promptledger-texts-'))
  onTestEnd(() => rm(folder, { recursive: true, force: true }))
  return folder
}

/** A client with a folder of its own, which closes with the test, and the errors that it reported. */
export async function deliveredClient(
  service: LiveService,
  { tenant }: Scenario,
  delivery: DeliveryOptions = {},
  options: ClientOptions = {},
): Promise<{ ledger: Promptledger; errors: string[]; folder: string }> {
  const errors: string[] = []
  const folder = delivery.folder ?? (await createFolder())
  const onError = (error: unknown) => errors.push(String(error))
  const ledger = service.ledger(tenant, { ...options, delivery: { folder, onError, ...delivery } })
  onTestEnd(() => ledger.close({ timeout: 0 }))
  return { ledger, errors, folder }
}

/** The same, once it has the document: the first call of a busy machine gets the fallback. */
export async function readyClient(...args: Parameters<typeof deliveredClient>): ReturnType<typeof deliveredClient> {
  const client = await deliveredClient(...args)
  await eventually(async () => {
    const { version } = await client.ledger.prompts.text('prompts/q.md', { fallback: { text: '' } })
    assert.notEqual(version, null)
  })
  return client
}
