import { runCliJson } from './cli.ts'

/** An organisation with an admin key and one prompt. */
export interface Account {
  organisationId: number
  /** Signals per month. */
  limit: number
  key: string
  promptId: string
}

const monthlyLimits = { free: 1_000, team: 10_000, business: 100_000 }

/** Creates an account with the CLI. */
export async function createAccount(databaseUrl: string, plan: keyof typeof monthlyLimits): Promise<Account> {
  const run = <T>(...args: string[]) => runCliJson<T>(databaseUrl, args)
  const { id } = await run<{ id: number }>('org', 'create', plan, '--plan', plan)
  const org = ['--org', String(id)]
  const { key } = await run<{ key: string }>('key', 'create', ...org, '--role', 'admin')
  const prompt = await run<{ id: string }>('prompt', 'create', ...org, '--name', 'support')
  return { organisationId: id, limit: monthlyLimits[plan], key, promptId: prompt.id }
}
