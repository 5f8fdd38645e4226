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
      commit_sha: i.toString(16).padStart(40, '0'),
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
