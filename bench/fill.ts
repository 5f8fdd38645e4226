import { operator } from '../server/src/domain/access/audit.ts'
import { newDeployment } from '../server/src/domain/deployments/deployment.ts'
import { type NewHistoryEntry, newHistoryEntry } from '../server/src/domain/history/entry.ts'
import { newPrompt, type Prompt } from '../server/src/domain/prompt.ts'
import type { NewSignal } from '../server/src/domain/signals/signal.ts'
import { openStore } from '../server/src/store/open.ts'
import type { Account } from '../testing/account.ts'
import { importLines } from '../testing/cli.ts'

/** Imports history entries, `stepMs` apart. */
export async function fillHistory(
  databaseUrl: string,
  { promptId }: Account,
  count: number,
  { start, stepMs } = { start: Date.UTC(2020, 0), stepMs: 60_000 },
): Promise<void> {
  await importLines(databaseUrl, ['history', promptId], historyLines(count, start, stepMs))
}

function* historyLines(count: number, start: number, stepMs: number): Generator<string> {
  for (let i = 0; i < count; i++) {
    const merged = i % 2 === 1
    yield JSON.stringify({
      action: merged ? 'pr_merged' : 'deployed',
      user: { name: `Author ${i % 17}`, email: `author${i % 17}@example.com` },
      commit_sha: shaOf(i),
      pr_number: merged ? i : null,
      pr_url: merged ? `https://github.com/acme/prompts/pull/${i}` : null,
      branch_name: 'main',
      created_at: new Date(start + i * stepMs).toISOString(),
    })
  }
}

/** Imports signals of 2024, so that none counts towards the current month. */
export async function fillSignals(databaseUrl: string, { promptId }: Account, count: number): Promise<void> {
  await importLines(databaseUrl, ['signals', promptId], signalLines(count))
}

function* signalLines(count: number): Generator<string> {
  const start = Date.UTC(2024, 0)
  const stepMs = (365 * 86_400_000) / count
  for (let i = 0; i < count; i++) {
    const value = i % 5 === 0 ? 'negative' : 'positive'
    const createdAt = new Date(start + Math.floor(i * stepMs)).toISOString()
    yield `{"value":"${value}","metadata":{"trace":"t-${i}"},"created_at":"${createdAt}"}`
  }
}

/** The commit of an imported entry. */
function shaOf(i: number): string {
  return i.toString(16).padStart(40, '0')
}

/**
 * Imports signals of 2024 that each name the version that was live, one in ten the one before, and deployments of the versions,
 * with a canary before each.
 */
export async function fillVersions(
  databaseUrl: string,
  { promptId }: Account,
  counts: { signals: number; changes: number; deployments: number },
): Promise<void> {
  const store = await openStore({ url: databaseUrl, poolSize: 4, clock: Date.now, onLostConnection: () => {} })
  try {
    const prompt = (await store.prompts.findInAnyOrganisation(promptId)) as Prompt
    await store.signals.import(versionedSignals(prompt, counts))
    const start = Date.UTC(2024, 0)
    const stepMs = (365 * 86_400_000) / counts.deployments
    for (let i = 0; i < counts.deployments; i++) {
      const at = start + Math.floor(i * stepMs) + 1_234
      const commitSha = shaOf(Math.floor((i / counts.deployments) * counts.changes))
      const share = i % 5 === 0 ? 0.1 : 1
      const deployment = newDeployment(
        { environment: 'production', commitSha, state: 'success', share, at },
        Date.now(),
      )
      await store.deployments.record({ prompt, repository: null }, deployment, Date.now(), operator)
    }
  } finally {
    await store.close()
  }
}

async function* versionedSignals(
  { organisationId, id: promptId }: Prompt,
  { signals, changes }: { signals: number; changes: number },
): AsyncGenerator<NewSignal[]> {
  const start = Date.UTC(2024, 0)
  const stepMs = (365 * 86_400_000) / signals
  const nothing = { subject: null, voter: null, comment: null, occurredAt: null, traceId: null }
  for (let first = 0; first < signals; first += 10_000) {
    yield Array.from({ length: Math.min(10_000, signals - first) }, (_, j) => {
      const i = first + j
      const change = Math.max(0, Math.floor((i / signals) * changes) - (i % 10 === 0 ? 1 : 0))
      const value = i % 5 === 0 ? 'negative' : 'positive'
      const createdAt = start + Math.floor(i * stepMs)
      return {
        organisationId,
        promptId,
        value,
        metadata: null,
        createdAt,
        details: { ...nothing, version: shaOf(change) },
      }
    })
  }
}

/**
 * Creates prompts, the first thousand with two changes each, and signals of the last 100 days: many for the first hundred prompts,
 * which are on the first page, and a few for the others.
 */
export async function fillPrompts(
  databaseUrl: string,
  { organisationId }: Account,
  counts: { prompts: number; signalsOfFirst: number; signalsOfOthers: number },
): Promise<void> {
  const store = await openStore({ url: databaseUrl, poolSize: 4, clock: Date.now, onLostConnection: () => {} })
  const now = Date.now()
  const prompts: Prompt[] = []
  try {
    for (let i = 0; i < counts.prompts; i++) {
      const name = `prompt ${String(i).padStart(5, '0')}`
      const prompt = await store.prompts.create(newPrompt(organisationId, name, now), operator)
      // Recording takes longest, and only the changes of the page matter.
      for (const entry of i < 1_000 ? twoChanges(now) : []) await store.history.record(prompt, entry, now, operator)
      prompts.push(prompt)
    }
    await store.signals.import(signalsOfPrompts(prompts, now, counts))
  } finally {
    await store.close()
  }
}

const windowMs = 50 * 86_400_000

function twoChanges(now: number): NewHistoryEntry[] {
  return [2, 1].map((windows) =>
    newHistoryEntry({
      action: 'deployed',
      user: { name: 'Author', email: 'author@example.com' },
      commitSha: shaOf(windows),
      prNumber: null,
      prUrl: null,
      branchName: 'main',
      createdAt: now - windows * windowMs,
    }),
  )
}

async function* signalsOfPrompts(
  prompts: Prompt[],
  now: number,
  { signalsOfFirst, signalsOfOthers }: { signalsOfFirst: number; signalsOfOthers: number },
): AsyncGenerator<NewSignal[]> {
  for (const [place, { organisationId, id: promptId }] of prompts.entries()) {
    const count = place < 100 ? signalsOfFirst : signalsOfOthers
    yield Array.from({ length: count }, (_, i) => ({
      organisationId,
      promptId,
      value: i % 7 === 0 ? ('negative' as const) : ('positive' as const),
      metadata: null,
      createdAt: now - Math.floor((2 * windowMs * (i + 1)) / (count + 1)),
    }))
  }
}
