import { importLines, promptledger } from '../testing/processes.ts'

/** An organisation in a database under test, with one prompt. */
export interface Subject {
  key: string
  promptId: string
}

export async function newSubject(databaseUrl: string): Promise<Subject> {
  const { id } = await promptledger<{ id: number }>(databaseUrl, 'org', 'create', 'Bench', '--plan', 'business')
  const { key } = await promptledger<{ key: string }>(databaseUrl, 'key', 'create', '--org', String(id))
  const prompt = await promptledger<{ id: string }>(
    databaseUrl,
    'prompt',
    'create',
    '--org',
    String(id),
    '--name',
    'bench',
  )
  return { key, promptId: prompt.id }
}

/** `step`: milliseconds between two entries. */
export async function fillHistory(
  databaseUrl: string,
  { promptId }: Subject,
  count: number,
  { start, step } = { start: Date.UTC(2020, 0), step: 60_000 },
): Promise<void> {
  await importLines(databaseUrl, ['history', promptId], historyLines(count, start, step))
}

function* historyLines(count: number, start: number, step: number): Generator<string> {
  for (let i = 0; i < count; i++) {
    const merged = i % 2 === 1
    yield JSON.stringify({
      action: merged ? 'pr_merged' : 'deployed',
      user: { name: `Author ${i % 17}`, email: `author${i % 17}@example.com` },
      commit_sha: i.toString(16).padStart(40, '0'),
      pr_number: merged ? i : null,
      pr_url: merged ? `https://github.com/acme/prompts/pull/${i}` : null,
      branch_name: 'main',
      created_at: new Date(start + i * step).toISOString(),
    })
  }
}

/** Signals of years past, so that none counts towards this month. */
export async function fillSignals(databaseUrl: string, { promptId }: Subject, count: number): Promise<void> {
  await importLines(databaseUrl, ['signals', promptId], signalLines(count))
}

function* signalLines(count: number): Generator<string> {
  const start = Date.UTC(2024, 0)
  const step = (365 * 86_400_000) / count
  for (let i = 0; i < count; i++) {
    const value = i % 5 === 0 ? 'negative' : 'positive'
    const createdAt = new Date(start + Math.floor(i * step)).toISOString()
    yield `{"value":"${value}","metadata":{"trace":"t-${i}"},"created_at":"${createdAt}"}`
  }
}

const signal = '{"value":"positive","metadata":{"trace":"4bf92f3577b34da6a3ce929d0e0e4736","model":"m-1"}}'

export function signalRequest({ key, promptId }: Subject): string {
  return (
    `POST /api/v1/prompts/${promptId}/signals HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Bearer ${key}\r\n` +
    `Content-Type: application/json\r\nContent-Length: ${signal.length}\r\n\r\n${signal}`
  )
}

export function historyRequest({ key, promptId }: Subject, page = 1, limit = 25): string {
  return (
    `GET /api/v1/prompts/${promptId}/history?page=${page}&limit=${limit} HTTP/1.1\r\nHost: 127.0.0.1\r\n` +
    `Authorization: Bearer ${key}\r\n\r\n`
  )
}
