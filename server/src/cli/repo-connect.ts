import { resolve } from 'node:path'
import type { ConnectedBody } from '../../../contract/repositories.ts'
import { operator } from '../domain/access/audit.ts'
import type { ForgeName } from '../domain/repositories/repository.ts'
import type {
  BackfillProgress,
  ConnectedRepository,
  NewDeployKey,
  RepositoryService,
} from '../domain/repositories/repository-service.ts'
import { isLocalUrl } from '../domain/repositories/repository-url.ts'
import type { SettingsUpdate } from '../domain/repositories/settings.ts'
import { sshFingerprint } from '../domain/repositories/ssh-key.ts'
import { isoTime } from '../domain/time.ts'
import { namingOptions } from './arguments.ts'
import { formatCount } from './output.ts'
import { bar, clearProgress, showProgress } from './progress.ts'
import { repositoryOptions } from './repository-service.ts'
import { secretFrom } from './with-store.ts'

export interface ConnectOptions {
  org: number
  forge: ForgeName
  url: string
  path: string
  similarity: number
  tokenEnv?: string
  sshKeyEnv?: string
  generateSshKey?: boolean
  sshHostKey?: string
  secretEnv?: string
  allowHttp?: boolean
  production?: string[]
  reportOnPulls?: boolean
}

/** Connects a repository for `promptledger repo connect`, and shows the progress of its backfill. */
export async function connectWithProgress(
  service: RepositoryService,
  options: ConnectOptions,
  settings: SettingsUpdate,
): Promise<ConnectedRepository> {
  const connection = {
    organisationId: options.org,
    forge: options.forge,
    url: options.url.startsWith('.') ? resolve(options.url) : options.url,
    path: options.path,
    similarity: options.similarity,
    token: secretFrom(options.tokenEnv),
    deployKey: deployKeyFrom(options),
    secret: secretFrom(options.secretEnv),
    ...settings,
    productionEnvironments: settings.productionEnvironments ?? options.production,
    reportsOnPulls: settings.reportsOnPulls ?? options.reportOnPulls,
  }
  // Exiting through process.exit also kills git.
  process.once('SIGINT', () => process.exit(130))
  showProgress('Fetching the repository')
  const onProgress = (progress: BackfillProgress) => showProgress(describeProgress(progress))
  const connected = await service
    .connect(connection, operator, { onProgress })
    .catch(namingOptions(repositoryOptions))
    .finally(clearProgress)
  const { repository, backfillError } = connected
  // A generated key works only after it has been added on the forge.
  if (backfillError !== null && !options.generateSshKey) {
    throw new Error(
      `Repository ${repository.id} is connected, but could not be read: ${backfillError.message}. The service retries. ` +
        `Run 'promptledger repo rotate-secret ${repository.id}' to get a webhook secret.`,
    )
  }
  return connected
}

function describeProgress({ commits, reachedAt, share }: BackfillProgress): string {
  const [date] = isoTime(reachedAt).split('T')
  return `${bar(share)} ${Math.floor(share * 100)}%, ${formatCount(commits, 'commit')} up to ${date}`
}

/** Fails if the repository has been read and has commits, but no prompts, so that scripts notice a wrong path. */
export function requirePrompts({ repository, prompts }: ConnectedRepository): void {
  const { id, tip, lastSyncAt } = repository
  if (prompts.length > 0 || tip === null || lastSyncAt === null) return
  throw new Error(
    `Repository ${id} is connected without prompts. If the path is wrong, run 'promptledger repo disconnect ${id}' and connect it again.`,
  )
}

function deployKeyFrom({ sshKeyEnv, generateSshKey, sshHostKey }: ConnectOptions): NewDeployKey | null {
  const privateKey = secretFrom(sshKeyEnv)
  if (privateKey !== null || generateSshKey) return { privateKey, hostKey: sshHostKey ?? null }
  if (sshHostKey !== undefined) throw new Error('--ssh-host-key needs --ssh-key-env or --generate-ssh-key')
  return null
}

export function connectedJson(body: ConnectedBody) {
  const { id, forge, url, default_branch, ssh_public_key, ssh_host_key, webhook_url, webhook_secret } = body
  const { prompts, entries, warnings } = body
  return {
    id,
    forge,
    url,
    default_branch,
    ssh_public_key,
    ssh_host_key,
    webhook_url,
    webhook_secret,
    prompts,
    entries,
    warnings,
  }
}

export function describeConnected(body: ConnectedBody, backfillError: Error | null): string {
  const { id, url, prompts, entries } = body
  return `Connected repository ${id}, ${url}: ${formatCount(prompts.length, 'prompt')}, ${formatCount(entries, 'entry', 'entries')}.
${isLocalUrl(url) ? describeFolder(id) : describeWebhook(body, backfillError)}`
}

function describeFolder(id: number): string {
  return `
A folder needs no webhook: the service checks it hourly. For instant updates, run 'promptledger repo sync ${id}' after a
commit, for example in its hook post-commit or post-receive.`
}

function describeWebhook(body: ConnectedBody, backfillError: Error | null): string {
  const { webhook_url, webhook_secret, set_up } = body
  return `${describeDeployKey(body, backfillError)}
  Webhook URL     ${webhook_url}
  Webhook secret  ${webhook_secret}

The secret is not shown again. Add a webhook for instant updates (without one, the service checks hourly):

${set_up.map((step, i) => `  ${i + 1}. ${step}`).join('\n')}`
}

function describeDeployKey({ id, ssh_public_key, ssh_host_key }: ConnectedBody, backfillError: Error | null): string {
  if (ssh_public_key === null) return ''
  const [type] = (ssh_host_key ?? '').split(' ')
  const next =
    backfillError === null
      ? ''
      : `
The server does not accept the deploy key yet. Add it to the repository on the forge, with read access only. The service
then finds the prompts within a minute, or run 'promptledger repo sync ${id}'.
`
  return `
  Deploy key      ${ssh_public_key}
  Host key        ${type} ${ssh_host_key === null ? '' : sshFingerprint(ssh_host_key)}
${next}`
}
