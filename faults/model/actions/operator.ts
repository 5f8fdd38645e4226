import { operator } from '../../../server/src/domain/access/audit.ts'
import type { Prompt as StoredPrompt } from '../../../server/src/domain/prompt.ts'
import { removeOldSignals } from '../../../server/src/domain/signals/retention.ts'
import { type Action, firstKey, someOrganisation } from '../run.ts'
import { day, monthOf, removeBefore, usedIn } from '../state.ts'
import { whileInUse } from './keys.ts'

// What the CLI and timers do while the service runs.

export const setPlan: Action = async (run, draw) => {
  const organisation = someOrganisation(run, draw)
  const plan = draw.one(['free', 'free', 'team', 'business'] as const)
  const { store, now } = run.service
  await whileInUse(run, firstKey(organisation), async () => {
    await store.organisations.setPlan(organisation.id, plan, now, operator)
    organisation.plan = plan
  })
}

const nothingSent = { metadata: null, version: null, subject: null, voter: null }

async function* oneBatch<Item>(items: Item[]): AsyncGenerator<Item[]> {
  yield items
}

/** Imported signals count towards the month, whatever its limit. */
export const importSignals: Action = async (run, draw) => {
  const { model, service } = run
  const { store, now } = service
  const organisation = someOrganisation(run, draw)
  const prompt = draw.one(organisation.prompts)
  const stored = (await store.prompts.findInAnyOrganisation(prompt.id)) as StoredPrompt
  const signal = { organisationId: organisation.id, promptId: stored.id, value: 'negative' as const, metadata: null }
  const signals = Array(draw.between(0, 30)).fill({ ...signal, createdAt: now })
  await store.signals.import(oneBatch(signals), { prompt: stored, at: now, by: operator })
  // The model learns their IDs. Whether there are as many as imported shows in the next list.
  for await (const batch of store.signals.stream(stored, { since: now, until: now + 1, value: null })) {
    for (const { id, value } of batch.filter((signal) => !model.signalIds.has(signal.id))) {
      model.signalIds.add(id)
      prompt.signals.push({ ...nothingSent, id, value, createdAt: now, occurredAt: now })
    }
  }
  organisation.used.set(monthOf(now), usedIn(organisation, now) + signals.length)
}

export const removeOld: Action = async ({ model, service, retentionDays }) => {
  if (retentionDays === null) return
  await removeOldSignals(service.store.signals, retentionDays, service.now)
  removeBefore(model, service.now - retentionDays * day)
}
