import { promptledger } from '../testing/processes.ts'

/** An organisation whose promises are put to the test. */
export interface Subject {
  organisationId: number
  limit: number
  key: string
  promptId: string
}

const limits = { free: 1_000, team: 10_000, business: 100_000 }

export async function newSubject(databaseUrl: string, plan: keyof typeof limits): Promise<Subject> {
  const { id } = await promptledger<{ id: number }>(databaseUrl, 'org', 'create', plan, '--plan', plan)
  const org = ['--org', String(id)]
  const { key } = await promptledger<{ key: string }>(databaseUrl, 'key', 'create', ...org, '--role', 'admin')
  const prompt = await promptledger<{ id: string }>(databaseUrl, 'prompt', 'create', ...org, '--name', 'voted on')
  return { organisationId: id, limit: limits[plan], key, promptId: prompt.id }
}
