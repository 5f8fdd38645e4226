import type { HistoryEntry } from '../server/src/domain/history/entry.ts'
import type { Prompt } from '../server/src/domain/prompt.ts'
import type { RegressionFigures } from '../server/src/domain/regressions/regression.ts'
import type { Tenant } from './service.ts'

/** A certain loss of 15 points. */
export const figures: RegressionFigures = {
  rateBefore: 0.85,
  rateAfter: 0.7,
  difference: -0.15,
  interval: [-0.2, -0.1],
  explanation: '70% of 1,200 votes are positive after this change, and 85% of 4,000 before it.',
  evidence: 8,
  signalsBefore: 4_000,
  signalsAfter: 1_200,
  liveFrom: 4,
}

export interface OpenedRegression {
  prompt: Prompt
  entry: HistoryEntry
  id: number
}

/** Opens a regression of a new change, past the judge. Changes with the same commit or pull request belong together. */
export async function openRegression(
  tenant: Tenant,
  at: number,
  {
    prompt = tenant.prompt,
    commitSha = 'c'.repeat(40),
    prNumber = null,
    prUrl = null,
    ...changed
  }: Partial<RegressionFigures & Change> = {},
): Promise<OpenedRegression> {
  const { history, regressions } = tenant.service.store
  const entry = await history.record(
    prompt,
    {
      action: prNumber === null ? 'deployed' : 'pr_merged',
      user: { name: 'Ada Lovelace', email: 'ada@example.com' },
      commitSha,
      prNumber,
      prUrl,
      branchName: 'main',
      createdAt: at - 5,
      dedupeKey: `${prompt.id} ${commitSha}`,
    },
    at,
    null,
  )
  await regressions.open(prompt, entry, { ...figures, ...changed }, at)
  const opened = (await regressions.ofPrompt(prompt)).find(({ entryId }) => entryId === entry.id)
  return { prompt, entry, id: opened?.id as number }
}

interface Change {
  prompt: Prompt
  commitSha: string
  prNumber: number | null
  prUrl: string | null
}
