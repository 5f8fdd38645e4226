import { operator } from '../../../server/src/domain/access/audit.ts'
import { newHistoryEntry } from '../../../server/src/domain/history/entry.ts'
import type { Prompt as StoredPrompt } from '../../../server/src/domain/prompt.ts'
import { deployedEntry } from '../../../testing/service.ts'
import { audit } from '../audit.ts'
import { type Action, type Draw, type Run, someOrganisation } from '../run.ts'
import { existingPrompts, iso, monthOf, type Organisation, type Prompt, usedIn } from '../state.ts'

const noDetails = { version: null, subject: null, voter: null, comment: null }

// As `promptledger import` does while the service runs.

interface Target {
  organisation: Organisation
  prompt: Prompt
  stored: StoredPrompt
}

async function somePrompt(run: Run, draw: Draw): Promise<Target> {
  const organisation = someOrganisation(run, draw)
  const prompt = draw.one(existingPrompts(organisation))
  const stored = (await run.service.store.prompts.findInAnyOrganisation(prompt.id)) as StoredPrompt
  return { organisation, prompt, stored }
}

async function* oneBatch<Item>(items: Item[]): AsyncGenerator<Item[]> {
  yield items
}

/** Entries whose IDs are still unknown to the model. */
export const importHistory: Action = async (run, draw) => {
  const { store, now } = run.service
  const { organisation, prompt, stored } = await somePrompt(run, draw)
  const times = Array.from({ length: draw.between(0, 3) }, (_, i) => now - i)
  const entries = times.map((at) => newHistoryEntry(deployedEntry(at)))
  const { imported } = await store.history.import(stored, oneBatch(entries), now, operator)
  const page = await store.history.page(stored, { page: '1', limit: 10_000 })
  const added = page.entries.filter(({ id }) => !prompt.recordedBy.has(id))
  for (const { id, action, user, commitSha, branchName, createdAt } of added) {
    const pull = { pr_number: null, pr_url: null }
    prompt.recordedBy.set(id, null)
    prompt.entries.push({
      id,
      action,
      user,
      commit_sha: commitSha,
      ...pull,
      branch_name: branchName,
      created_at: iso(createdAt),
    })
  }
  if (added.length !== imported) throw new Error(`imported ${added.length} entries instead of ${imported}`)
  if (imported === 0) return
  const details = { entries: imported }
  audit({ organisation, key: null, action: 'history.imported', subject: prompt, details }, now)
}

/** Imported signals count towards the month, whatever its limit. */
export const importSignals: Action = async (run, draw) => {
  const { model, service } = run
  const { store, now } = service
  const { organisation, prompt, stored } = await somePrompt(run, draw)
  const signal = { organisationId: organisation.id, promptId: stored.id, value: 'negative' as const, metadata: null }
  const signals = Array(draw.between(0, 30)).fill({ ...signal, createdAt: now })
  await store.signals.import(oneBatch(signals), { prompt: stored, at: now, by: operator })
  const filter = { since: now, until: now + 1, value: null }
  for await (const batch of store.signals.stream(stored, filter)) {
    for (const { id, value } of batch.filter((signal) => !model.signalIds.has(signal.id))) {
      model.signalIds.add(id)
      prompt.signals.push({ id, value, metadata: null, createdAt: now, occurredAt: now, ...noDetails })
    }
  }
  if (signals.length === 0) return
  organisation.used.set(monthOf(now), usedIn(organisation, now) + signals.length)
  const details = { signals: signals.length }
  audit({ organisation, key: null, action: 'signals.imported', subject: prompt, details }, now)
}
