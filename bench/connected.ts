import { type Measured, measuredCommand } from '../testing/processes.ts'

/** Where the service under test keeps its data. */
export interface Place {
  name: 'sqlite' | 'postgres'
  url: string
  env: NodeJS.ProcessEnv
}

export interface Organisation {
  id: number
  key: string
}

/** What `repo connect` prints. */
export interface Connected {
  webhook_url: string
  webhook_secret: string
  prompts: { id: string; path: string }[]
  entries: number
}

export async function newOrganisation({ env }: Place): Promise<Organisation> {
  const { value: organisation } = await measuredCommand<{ id: number }>(env, ['org', 'create', 'Bench'])
  const { value } = await measuredCommand<{ key: string }>(env, ['key', 'create', '--org', String(organisation.id)])
  return { id: organisation.id, key: value.key }
}

/** Connects the repository and waits for its history. */
export function connect({ env }: Place, { id }: Organisation, remote: string): Promise<Measured<Connected>> {
  const what = ['--org', String(id), '--forge', 'github', '--url', remote, '--path', 'prompts/**/*.md']
  return measuredCommand<Connected>(env, ['repo', 'connect', ...what])
}

/** The address of the webhook at a service that listens on this port. */
export function webhookAt(port: number, { webhook_url }: Connected): string {
  return `http://127.0.0.1:${port}${new URL(webhook_url).pathname}`
}
