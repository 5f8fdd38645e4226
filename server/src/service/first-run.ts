import { issueKey } from '../domain/access/api-key.ts'
import { operator } from '../domain/access/audit.ts'
import { newOrganisation } from '../domain/access/organisation.ts'
import type { Plan } from '../domain/access/plan.ts'
import { type HistoryEntry, newHistoryEntry } from '../domain/history/entry.ts'
import { newPrompt } from '../domain/prompt.ts'
import type { Store } from '../domain/store.ts'
import { type Instant, minute } from '../domain/time.ts'

export interface FirstRun {
  organisationId: number
  plan: Plan
  secret: string
  promptId: string
}

const plan = 'free'
// No file in a git repository can have this path, because of the slash at the start.
const sampleName = '/sample/welcome.md'

/** Creates an organisation, an admin key and a sample prompt with history if the database is empty. Otherwise returns null. */
export async function firstRun(store: Store, now: Instant): Promise<FirstRun | null> {
  const organisation = await store.organisations.createFirst(newOrganisation('My organisation', plan, now))
  if (organisation === null) return null
  const owner = {
    organisationId: organisation.id,
    name: 'first key',
    role: 'admin',
    createdAt: now,
    expiresAt: null,
  } as const
  const prompt = await store.prompts.create(newPrompt(organisation.id, sampleName, now), operator)
  for (const entry of sampleHistory(now)) await store.history.record(prompt, newHistoryEntry(entry), now, operator)
  // Last, because it is shown once: nothing may fail in between.
  const { secret } = await issueKey(store.keys, owner, operator)
  return { organisationId: organisation.id, plan, secret, promptId: prompt.publicId }
}

function sampleHistory(now: Instant): Omit<HistoryEntry, 'id'>[] {
  const ada = { name: 'Ada Lovelace', email: 'ada@example.com' }
  const alan = { name: 'Alan Turing', email: 'alan@example.com' }
  const none = { prNumber: null, prUrl: null }
  const first = { prNumber: 1, prUrl: 'https://github.com/example/prompts/pull/1' }
  const second = { prNumber: 2, prUrl: 'https://github.com/example/prompts/pull/2' }
  return [
    {
      action: 'deployed',
      user: ada,
      commitSha: sha('a1'),
      ...none,
      branchName: 'main',
      createdAt: now - 50 * minute,
    },
    {
      action: 'pr_opened',
      user: alan,
      commitSha: sha('b2'),
      ...first,
      branchName: 'warmer-tone',
      createdAt: now - 40 * minute,
    },
    {
      action: 'pr_merged',
      user: alan,
      commitSha: sha('c3'),
      ...first,
      branchName: 'main',
      createdAt: now - 30 * minute,
    },
    {
      action: 'pr_opened',
      user: ada,
      commitSha: sha('d4'),
      ...second,
      branchName: 'shorter',
      createdAt: now - 20 * minute,
    },
    {
      action: 'pr_closed',
      user: ada,
      commitSha: sha('d4'),
      ...second,
      branchName: 'shorter',
      createdAt: now - 10 * minute,
    },
  ]
}

function sha(twoDigits: string): string {
  return twoDigits.repeat(20)
}
