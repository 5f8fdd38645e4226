import type { RegressionMessage, ToldPrompt } from '../server/src/domain/alerts/message.ts'

const liveFrom = Date.parse('2026-11-14T09:05:00.000Z')

/** A prompt that got worse. */
export function toldPrompt(changes: Partial<ToldPrompt> & { name?: string } = {}): ToldPrompt {
  const { name = 'prompts/refunds.md', ...told } = changes
  return {
    prompt: { publicId: 'pmt_4Rk7pQ2mXw9Z', name },
    regressionId: 12,
    entryId: 345,
    state: 'open',
    liveFrom,
    before: { rate: 0.912, signals: 812 },
    after: { rate: 0.784, signals: 233 },
    difference: -0.128,
    interval: [-0.181, -0.075],
    explanation:
      '78% of 233 votes are positive after this change, 91% of 812 votes before it. A fall of this size at this moment is at least 20 times more likely with an effect of the change than without one.',
    repairedBy: null,
    repairedEntry: null,
    comments: [],
    ...told,
  }
}

export function regressionMessage(
  repository: { id: number; organisationId: number },
  changes: Partial<RegressionMessage> = {},
): RegressionMessage {
  return {
    event: 'regression.opened',
    at: liveFrom + 3_600_000,
    organisation: { id: repository.organisationId, name: 'Acme' },
    change: {
      id: 345,
      action: 'pr_merged',
      user: { name: 'Ada Lovelace', email: 'ada@example.com' },
      commitSha: 'a1'.repeat(20),
      prNumber: 7,
      prUrl: 'https://forge.example/acme/prompts/pull/7',
      branchName: 'main',
      createdAt: liveFrom,
    },
    title: 'Shorten the answer about refunds',
    repositoryId: repository.id,
    prompts: [toldPrompt()],
    dedupKey: 'pull/7',
    ...changes,
  }
}
