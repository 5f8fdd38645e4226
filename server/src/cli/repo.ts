import { resolve } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { type Command, Option } from 'commander'
import type { Config } from '../config.ts'
import { operator } from '../domain/access/audit.ts'
import type { Delivery } from '../domain/repositories/delivery.ts'
import {
  type ForgeName,
  forgeNames,
  type Repository,
  stateOfRepository,
  webUrlOf,
} from '../domain/repositories/repository.ts'
import type { Store } from '../domain/store.ts'
import { isoTime } from '../domain/time.ts'
import type { SyncContext } from '../follow/sync-context.ts'
import { toDeliveryBody, toRepositoryBody, webhookUrl } from '../http/repositories/body.ts'
import { durationArgument, integerArgument } from './arguments.ts'
import { deliveryOrFail, organisationOrFail, repositoryOrFail } from './lookup.ts'
import { print, table } from './output.ts'
import { progressBar, showProgress } from './progress.ts'
import { secretFrom, withStore } from './with-store.ts'

interface ConnectOptions {
  org: number
  forge: ForgeName
  url: string
  path: string
  similarity: number
  tokenEnv?: string
  secretEnv?: string
}

export function repoCommands(program: Command): void {
  const repo = program.command('repo').description('git repositories whose prompts are followed')

  repo
    .command('connect')
    .description('follow a repository: each file that matches becomes a prompt, with its history')
    .requiredOption('--org <id>', 'the organisation that the prompts belong to', integerArgument)
    .addOption(new Option('--forge <forge>', 'what it is hosted on').choices(forgeNames).makeOptionMandatory())
    .requiredOption('--url <address>', 'https://…, ssh://…, git@host:path, or a folder of this machine')
    .requiredOption('--path <glob>', "which files are prompts, such as 'prompts/**/*.md'")
    .option('--token-env <name>', 'the environment variable that holds a token to read it with')
    .option('--secret-env <name>', 'the environment variable that holds a webhook secret of your own')
    .option(
      '--similarity <per-cent>',
      'how much of a file must stay for a move with changes to keep its prompt',
      integerArgument,
      100,
    )
    .action((options: ConnectOptions, command: Command) =>
      withStore((store, config) => connect(store, config, options, command)),
    )

  repo
    .command('list')
    .description('list the repositories of an organisation, or of all')
    .option('--org <id>', '', integerArgument)
    .action(({ org }: { org?: number }, command: Command) =>
      withStore(async (store, config) => {
        const organisations =
          org === undefined ? await store.organisations.list() : [await organisationOrFail(store, org)]
        const found: Repository[] = []
        for (const { id } of organisations) found.push(...(await store.repositories.list(id)))
        const json = found.map((repository) => ({
          organisation_id: repository.organisationId,
          ...toRepositoryBody(repository, publicUrl(config)),
        }))
        const rows = json.map(({ id, forge, url, path, state, last_delivery_at, last_sync_at, last_error }) => ({
          id,
          forge,
          url,
          path,
          state,
          last_delivery_at,
          last_sync_at,
          last_error,
        }))
        print(command, json, table(rows, 'There are no repositories: connect one with promptledger repo connect'))
      }),
    )

  repo
    .command('sync')
    .description('fetch now and derive what is new')
    .argument('<repo-id>', '', integerArgument)
    .action((id: number, _options: object, command: Command) =>
      withStore(async (store, config) => {
        const repository = await repositoryOrFail(store, id)
        checkConnected(repository)
        const before = await store.facts.countEntries(repository)
        await store.repositories.wake(repository, Date.now())
        await syncNow(await commandFollow(config, store), id)
        const synced = await repositoryOrFail(store, id)
        const entries = (await store.facts.countEntries(repository)) - before
        const json = { ...toRepositoryBody(synced, publicUrl(config)), new_entries: entries }
        print(command, json, `Synced repository ${id}: ${entries} new entries`)
      }),
    )

  repo
    .command('deliveries')
    .description('list what the forge has sent, newest first')
    .argument('<repo-id>', '', integerArgument)
    .option('--limit <n>', 'how many', integerArgument, 50)
    .action((id: number, { limit }: { limit: number }, command: Command) =>
      withStore(async (store) => {
        const found = (await store.deliveries.list(await repositoryOrFail(store, id), limit)).map(toDeliveryBody)
        const rows = found.map(({ next_attempt_at: _, ...row }) => row)
        print(command, found, table(rows, 'Nothing was delivered yet: see promptledger repo list for the address'))
      }),
    )

  repo
    .command('redeliver')
    .description('work on a delivery once more')
    .argument('<delivery-id>', '', integerArgument)
    .action((id: number, _options: object, command: Command) =>
      withStore(async (store, config) => {
        const { repositoryId } = await deliveryOrFail(store, id)
        const delivery = await deliveryOrFail(store, id)
        checkConnected(await repositoryOrFail(store, repositoryId))
        await store.deliveries.redeliver(delivery, Date.now())
        await syncNow(await commandFollow(config, store), repositoryId)
        const after = await deliveryOrFail(store, id)
        print(command, toDeliveryBody(after), describeDelivery(after))
      }),
    )

  repo
    .command('rotate-secret')
    .description('make a new webhook secret; the old one works on until the overlap ends')
    .argument('<repo-id>', '', integerArgument)
    .option('--overlap <time>', 'how long the old secret works on', durationArgument, durationArgument('24h'))
    .action((id: number, { overlap }: { overlap: number }, command: Command) =>
      withStore(async (store, config) => {
        const repository = await repositoryOrFail(store, id)
        const { rotateSecret } = await import('../follow/connect.ts')
        const secret = await rotateSecret(await commandFollow(config, store), repository, overlap, operator)
        const until = isoTime(Date.now() + overlap)
        const json = {
          webhook_url: webhookUrl(repository, publicUrl(config)),
          webhook_secret: secret,
          old_secret_until: until,
        }
        print(command, json, `${secret}\nKeep it now: it is not shown again. The old secret works until ${until}.`)
      }),
    )

  repo
    .command('disconnect')
    .description('stop following a repository; its prompts and their history stay')
    .argument('<repo-id>', '', integerArgument)
    .action((id: number, _options: object, command: Command) =>
      withStore(async (store, config) => {
        await store.repositories.disconnect(await repositoryOrFail(store, id), Date.now(), operator)
        const repository = await repositoryOrFail(store, id)
        const text = `Disconnected repository ${id}, ${repository.url}. Its prompts and their history stay.`
        print(command, toRepositoryBody(repository, publicUrl(config)), text)
      }),
    )
}

async function connect(store: Store, config: Config, options: ConnectOptions, command: Command): Promise<void> {
  await organisationOrFail(store, options.org)
  const [{ connectRepository }, { syncWithLease: workUnder }, { forgeOf }, { countMainline }] = await Promise.all([
    import('../follow/connect.ts'),
    import('../follow/worker.ts'),
    import('../forges/index.ts'),
    import('../follow/progress.ts'),
  ])
  // Whoever can run the command can read the folders of this machine anyway.
  const follow = { ...(await commandFollow(config, store)), allowLocal: true }
  const connection = {
    organisationId: options.org,
    forge: options.forge,
    url: options.url.startsWith('.') ? resolve(options.url) : options.url,
    path: options.path,
    similarity: options.similarity,
    token: secretFrom(options.tokenEnv),
    secret: secretFrom(options.secretEnv),
  }
  const { lease, secret } = await connectRepository(follow, connection, operator)
  showProgress('Fetching the repository')
  // Whoever gives up waiting ends git too.
  process.once('SIGINT', () => process.exit(130))
  let total: number | null = null
  try {
    await workUnder(follow, lease, async (done) => {
      total ??= await countMainline(follow, lease.repository)
      showProgress(progressBar(done, total, 'commits'))
    })
  } catch (error) {
    const { id } = lease.repository
    throw new Error(
      `Repository ${id} is connected, but could not be read: ${(error as Error).message}. The service tries again; ` +
        `promptledger repo rotate-secret ${id} makes a webhook secret`,
    )
  } finally {
    showProgress('')
  }

  const repository = await repositoryOrFail(store, lease.repository.id)
  const prompts = await store.facts.prompts(repository)
  const entries = await store.facts.countEntries(repository)
  const url = webhookUrl(repository, publicUrl(config))
  const json = {
    id: repository.id,
    forge: repository.forge,
    url: repository.url,
    default_branch: repository.defaultBranch,
    webhook_url: url,
    webhook_secret: secret,
    prompts: prompts.map(({ publicId, path }) => ({ id: publicId, path })),
    entries,
  }
  const steps = forgeOf(repository.forge).setUp({ url, secret, webUrl: webUrlOf(repository) })
  const text = `Connected repository ${repository.id}, ${repository.url}: ${prompts.length} prompts, ${entries} entries

  Webhook address  ${url}
  Webhook secret   ${secret}

The secret is shown only this once. So that changes show up by themselves:

${steps.map((step, i) => `  ${i + 1}. ${step}`).join('\n')}`
  print(command, json, text)
}

async function commandFollow(config: Config, store: Store): Promise<SyncContext> {
  const [{ openSyncContext: openFollow }, { newLog }] = await Promise.all([
    import('../service/sync-context.ts'),
    import('../service/log.ts'),
  ])
  return openFollow(config, store, newLog(config.logLevel))
}

const patience = 60_000

/** Syncs here, or waits for the service where that is at it. */
async function syncNow(follow: SyncContext, id: number): Promise<void> {
  const { syncOnce: workOn } = await import('../follow/worker.ts')
  const deadline = Date.now() + patience
  for (;;) {
    const synced = await workOn(follow, id)
    if (synced !== null && !synced.more) return
    if (Date.now() > deadline) throw new Error('The repository is being worked on by the service: try again later')
    if (synced === null) await pause(100)
  }
}

function checkConnected(repository: Repository): void {
  if (stateOfRepository(repository) === 'disconnected') {
    throw new Error(`Repository ${repository.id} is disconnected: connect it again with promptledger repo connect`)
  }
}

function publicUrl({ publicUrl, host, port }: Config): string {
  return publicUrl ?? `http://${host}:${port}`
}

function describeDelivery({ id, state, error }: Delivery): string {
  return `Delivery ${id} is ${state}${error === null ? '' : `: ${error}`}`
}
