import { issueKey } from '../server/src/domain/access/api-key.ts'
import { operator } from '../server/src/domain/access/audit.ts'
import { newOrganisation } from '../server/src/domain/access/organisation.ts'
import { newPrompt } from '../server/src/domain/prompt.ts'
import { openStore } from '../server/src/store/open.ts'

/** An organisation with an admin key and one prompt. */
export interface Account {
  organisationId: number
  /** Signals per month. */
  limit: number
  key: string
  promptId: string
}

const monthlyLimits = { free: 1_000, team: 10_000, business: 100_000 }

/** Creates an account in the database, which gets its tables first if it is new. */
export async function createAccount(databaseUrl: string, plan: keyof typeof monthlyLimits): Promise<Account> {
  const [account] = await createAccounts(databaseUrl, plan, 1)
  return account as Account
}

export async function createAccounts(
  databaseUrl: string,
  plan: keyof typeof monthlyLimits,
  count: number,
): Promise<Account[]> {
  const store = await openStore({ url: databaseUrl, poolSize: 1, clock: Date.now, onLostConnection: () => {} })
  const accounts: Account[] = []
  try {
    while (accounts.length < count) {
      const createdAt = Date.now()
      const { id: organisationId } = await store.organisations.create(newOrganisation(plan, plan, createdAt))
      const terms = { organisationId, name: 'load', role: 'admin' as const, createdAt, expiresAt: null }
      const { secret } = await issueKey(store.keys, terms, operator)
      const { publicId } = await store.prompts.create(newPrompt(organisationId, 'support', createdAt), operator)
      accounts.push({ organisationId, limit: monthlyLimits[plan], key: secret, promptId: publicId })
    }
    return accounts
  } finally {
    await store.close()
  }
}
