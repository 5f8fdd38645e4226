import { resolve } from 'node:path'
import type { Command } from 'commander'
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
import { toConnectedBody } from '../http/repositories/body.ts'
import { namingOptions } from './arguments.ts'
import { formatCount, print } from './output.ts'
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

/**
 * Connects a repository for `promptledger repo connect`, and shows the progress of its backfill. `onConnected` shows the secret: the
 * backfill may take minutes, and may be interrupted.
 */
export async function connectWithProgress(
  service: RepositoryService,
  options: ConnectOptions,
  settings: SettingsUpdate,
  onConnected: (connected: ConnectedRepository) => void,
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
  // Exiting through process.exit also kills git, and prints what is known by then.
  process.once('SIGINT', () => process.exit(130))
  process.once('SIGTERM', () => process.exit(143))
  showProgress('Fetching the repository')
  const onProgress = (progress: BackfillProgress) => showProgress(describeProgress(progress))
  return service
    .connect(connection, operator, {
      onProgress,
      onConnected(repository, secret) {
        clearProgress()
        onConnected({ repository, secret, prompts: [], entryCount: 0, backfillError: null, warnings: [] })
      },
    })
    .catch(namingOptions(repositoryOptions))
    .finally(clearProgress)
}

function describeProgress({ commits, reachedAt, share }: BackfillProgress): string {
  const [date] = isoTime(reachedAt).split('T')
  return `${bar(share)} ${Math.floor(share * 100)}%, ${formatCount(commits, 'commit')} up to ${date}`
}

/**
 * Fails if the repository could not be read, or has commits but no prompts, so that scripts notice a wrong token or path. A generated
 * key works only after it has been added on the forge.
 */
export function requireFirstSync(
  { repository, prompts, backfillError }: ConnectedRepository,
  hasNewKey: boolean,
): void {
  const { id, tip, lastSyncAt } = repository
  if (backfillError !== null && !hasNewKey) {
    throw new Error(
      `Repository ${id} is connected, but its first sync failed: ${backfillError.message}. The service retries.`,
    )
  }
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

/** Shows the secret as text at once, and as JSON, which is one value, at the end, however the command ends. */
export function connectOutput(command: Command, publicUrl: string) {
  const isJson = command.optsWithGlobals().json === true
  let known: ConnectedRepository | null = null
  const body = (connected: ConnectedRepository) => toConnectedBody(connected, publicUrl, Date.now())
  const printJson = () => {
    if (known !== null) print(command, connectedJson(body(known)), '')
    known = null
  }
  return {
    connected(connected: ConnectedRepository): void {
      known = connected
      if (isJson) process.once('exit', printJson)
      else print(command, null, describeConnected(body(connected)))
    },
    found(connected: ConnectedRepository): void {
      known = connected
      if (isJson) printJson()
      else print(command, null, describeFound(body(connected), connected.backfillError))
    },
  }
}

function connectedJson(body: ConnectedBody) {
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

/** What to print before the first sync, which may fail or be interrupted. */
export function describeConnected(body: ConnectedBody): string {
  const { id, url } = body
  return `Connected repository ${id}, ${url}.
${isLocalUrl(url) ? describeFolder(id) : describeWebhook(body)}`
}

/** What the first sync found. */
export function describeFound({ prompts, entries, ...body }: ConnectedBody, backfillError: Error | null): string {
  if (backfillError !== null) return describeMissingKey(body)
  if (body.last_sync_at === null) return '\nThe service continues with the first sync.'
  return `\nFound ${formatCount(prompts.length, 'prompt')}, ${formatCount(entries, 'entry', 'entries')}.`
}

function describeFolder(id: number): string {
  return `
A folder needs no webhook: the service checks it hourly. For instant updates, run 'promptledger repo sync ${id}' after a
commit, for example in its hook post-commit or post-receive.`
}

function describeWebhook(body: ConnectedBody): string {
  const { webhook_url, webhook_secret, set_up } = body
  return `${describeDeployKey(body)}
  Webhook URL     ${webhook_url}
  Webhook secret  ${webhook_secret}

The secret is not shown again. Add a webhook for instant updates (without one, the service checks hourly):

${set_up.map((step, i) => `  ${i + 1}. ${step}`).join('\n')}`
}

function describeDeployKey({ ssh_public_key, ssh_host_key }: ConnectedBody): string {
  if (ssh_public_key === null) return ''
  const [type] = (ssh_host_key ?? '').split(' ')
  return `
  Deploy key      ${ssh_public_key}
  Host key        ${type} ${ssh_host_key === null ? '' : sshFingerprint(ssh_host_key)}
`
}

function describeMissingKey({ id }: Pick<ConnectedBody, 'id'>): string {
  return `
The server does not accept the deploy key yet. Add it to the repository on the forge, with read access only. The service
then finds the prompts within a minute, or run 'promptledger repo sync ${id}'.`
}
