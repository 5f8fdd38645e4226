import { type Account, createAccount } from '../testing/account.ts'
import { type MeasuredRun, measureCli } from '../testing/cli.ts'

/** A database with the settings of the service that uses it. */
export interface Installation {
  engine: 'sqlite' | 'postgres'
  url: string
  env: NodeJS.ProcessEnv
}

/** The output of `repo connect`. */
export interface ConnectedRepository {
  webhook_url: string
  webhook_secret: string
  prompts: { id: string; path: string }[]
  entries: number
}

export function createOwner({ url }: Installation): Promise<Account> {
  return createAccount(url, 'business')
}

/** Connects the repository and waits for its first sync. */
export function connectRepository(
  { env }: Installation,
  { organisationId }: Account,
  remote: string,
): Promise<MeasuredRun<ConnectedRepository>> {
  const options = ['--org', String(organisationId), '--forge', 'github', '--url', remote, '--path', 'prompts/**/*.md']
  return measureCli<ConnectedRepository>(env, ['repo', 'connect', ...options])
}

/** The webhook's URL at a service that listens on this port. */
export function webhookAt(port: number, { webhook_url }: ConnectedRepository): string {
  return `http://127.0.0.1:${port}${new URL(webhook_url).pathname}`
}
