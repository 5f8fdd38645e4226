import { type Command, Option } from 'commander'
import type { RepositoryBody } from '../../../contract/repositories.ts'
import { operator } from '../domain/access/audit.ts'
import type { Delivery } from '../domain/repositories/delivery.ts'
import { defaultSimilarity, forgeNames, type Repository } from '../domain/repositories/repository.ts'
import { toDeliveryBody, toRepositoryBody, toRotatedSecretBody } from '../http/repositories/body.ts'
import { integerArgument, overlapOption } from './arguments.ts'
import { deliveryOrFail, organisationOrFail, repositoryOrFail } from './lookup.ts'
import { formatCount, print, printWarnings, table } from './output.ts'
import { repoAuditCommand } from './repo-audit.ts'
import { type ConnectOptions, connectOutput, connectWithProgress, requireFirstSync } from './repo-connect.ts'
import { addSettingOptions, settingsOf } from './repo-settings.ts'
import { allowHttpOption, repoUpdateCommands } from './repo-update.ts'
import { openRepositoryService, publicUrl } from './repository-service.ts'
import { withStore } from './with-store.ts'

export function repoCommands(program: Command): void {
  const repo = program.command('repo').description('connect git repositories and sync their prompts')

  const connect = repo
    .command('connect')
    .description('connect a repository: each matching file becomes a prompt with its history')
    .requiredOption('--org <id>', 'organisation that the prompts belong to', integerArgument)
    .addOption(
      new Option('--forge <forge>', 'forge that hosts the repository').choices(forgeNames).makeOptionMandatory(),
    )
    .requiredOption('--url <url>', 'https://…, ssh://…, git@host:path, or a folder on this machine')
    .requiredOption('--path <glob>', "glob that selects the prompt files, such as 'prompts/**/*.md'")
    .option('--token-env <name>', 'environment variable with a token, if the repository is not public')
    .option('--ssh-key-env <name>', 'environment variable with a private ssh key for this repository alone')
    .addOption(
      new Option('--generate-ssh-key', 'generate an ssh key for this repository, and print its public half').conflicts(
        'sshKeyEnv',
      ),
    )
    .option('--ssh-host-key <key>', "the server's key, such as 'ssh-ed25519 AAAAC3…' (default: the one it has now)")
    .addOption(new Option('--production <globs...>', 'the same as --production-environments').hideHelp())
    .addOption(new Option('--report-on-pulls', 'the same as --reports-on-pulls on').hideHelp())
    .addOption(allowHttpOption)
    .option('--secret-env <name>', 'environment variable with your own webhook secret (default: generated)')
    .option(
      '--similarity <percent>',
      'minimum similarity for a file that was moved and edited to keep its prompt',
      integerArgument,
      defaultSimilarity,
    )
  addSettingOptions(connect).action((options: ConnectOptions, command: Command) =>
    withStore(async (store, config) => {
      await organisationOrFail(store, options.org)
      const service = await openRepositoryService(config, store, options)
      const output = connectOutput(command, publicUrl(config))
      const connected = await connectWithProgress(service, options, settingsOf(command), output.connected)
      printWarnings(connected.warnings)
      output.found(connected)
      requireFirstSync(connected, options.generateSshKey === true)
    }),
  )

  repo
    .command('list')
    .description('list the repositories of one organisation, or of all, with their state and what to do about problems')
    .option('--org <id>', 'organisation', integerArgument)
    .action(({ org }: { org?: number }, command: Command) =>
      withStore(async (store, config) => {
        const organisations =
          org === undefined ? await store.organisations.list() : [await organisationOrFail(store, org)]
        const repositories: Repository[] = []
        for (const { id } of organisations) repositories.push(...(await store.repositories.list(id)))
        const json = repositories.map((repository) => ({
          organisation_id: repository.organisationId,
          ...toRepositoryBody(repository, publicUrl(config), Date.now()),
        }))
        const rows = json.map(({ id, forge, url, path, state, stale, ...rest }) => ({
          id,
          forge,
          url,
          path,
          state: stale ? `${state} (stale)` : state,
          last_delivery_at: rest.last_delivery_at,
          rejected_deliveries: rest.rejected_deliveries,
          last_sync_at: rest.last_sync_at,
        }))
        const listed = table(rows, "No repositories yet. Connect one with 'promptledger repo connect'.")
        print(command, json, [listed, ...json.flatMap(describeProblems)].join('\n'))
      }),
    )

  repo
    .command('sync')
    .description('fetch a repository now and record new changes')
    .argument('<repo-id>', 'repository', integerArgument)
    .action((id: number, _options: object, command: Command) =>
      withStore(async (store, config) => {
        const repository = await repositoryOrFail(store, id)
        const entriesBefore = await store.facts.countEntries(repository)
        const service = await openRepositoryService(config, store)
        const synced = await service.sync(repository, { wait: true })
        const newEntries = (await store.facts.countEntries(repository)) - entriesBefore
        const json = { ...toRepositoryBody(synced, publicUrl(config), Date.now()), new_entries: newEntries }
        print(command, json, `Synced repository ${id}: ${formatCount(newEntries, 'new entry', 'new entries')}.`)
      }),
    )

  repo
    .command('deliveries')
    .description('list the webhook deliveries of a repository, newest first')
    .argument('<repo-id>', 'repository', integerArgument)
    .option('--limit <count>', 'maximum number to list', integerArgument, 50)
    .action((id: number, { limit }: { limit: number }, command: Command) =>
      withStore(async (store) => {
        const deliveries = (await store.deliveries.list(await repositoryOrFail(store, id), limit)).map(toDeliveryBody)
        const rows = deliveries.map(({ next_attempt_at: _, ...row }) => row)
        const none = `No deliveries yet. See 'promptledger repo list --json' for the webhook URL.`
        print(command, deliveries, table(rows, none))
      }),
    )

  repo
    .command('redeliver')
    .description('process a stored delivery again')
    .argument('<delivery-id>', 'delivery', integerArgument)
    .action((id: number, _options: object, command: Command) =>
      withStore(async (store, config) => {
        const delivery = await deliveryOrFail(store, id)
        const service = await openRepositoryService(config, store)
        const processed = await service.redeliver(delivery, { wait: true })
        print(command, toDeliveryBody(processed), describeDelivery(processed))
      }),
    )

  repo
    .command('rotate-secret')
    .description('replace the webhook secret; the old one stays valid until the overlap ends')
    .argument('<repo-id>', 'repository', integerArgument)
    .addOption(overlapOption('how long the old secret stays valid'))
    .action((id: number, { overlap }: { overlap: number }, command: Command) =>
      withStore(async (store, config) => {
        const repository = await repositoryOrFail(store, id)
        const service = await openRepositoryService(config, store)
        const rotated = await service.rotateSecret(repository, overlap, operator)
        const body = toRotatedSecretBody(repository, rotated, publicUrl(config))
        const note = `Store it now: it is not shown again. The old secret is valid until ${body.old_secret_until}.`
        print(command, body, `${body.webhook_secret}\n${note}`)
      }),
    )

  repoUpdateCommands(repo)
  repoAuditCommand(repo)

  repo
    .command('disconnect')
    .description('stop syncing a repository; its prompts and their history stay')
    .argument('<repo-id>', 'repository', integerArgument)
    .action((id: number, _options: object, command: Command) =>
      withStore(async (store, config) => {
        await store.repositories.disconnect(await repositoryOrFail(store, id), Date.now(), operator)
        const repository = await repositoryOrFail(store, id)
        const text = `Disconnected repository ${id}, ${repository.url}. Its prompts and their history stay.`
        print(command, toRepositoryBody(repository, publicUrl(config), Date.now()), text)
      }),
    )
}

function describeDelivery({ id, state, error }: Delivery): string {
  return `Delivery ${id} is ${state}${error === null ? '.' : `: ${error}`}`
}

type Listed = Omit<RepositoryBody, 'prompt_count' | 'entry_count'>

/** The problem of a repository, and its fix. */
function describeProblems(repository: Listed): string[] {
  return [
    syncProblem(repository),
    unreadPulls(repository),
    webhookProblem(repository),
    reportProblem(repository),
    deliveryProblem(repository),
  ].filter((problem) => problem !== null)
}

function syncProblem({ id, state, stale, last_error: error }: Listed): string | null {
  if (state === 'failing' && error !== null) return `\nRepository ${id} is failing: ${error.replace(/\.?$/, '.')}`
  if (stale) return `\nRepository ${id} is stale: no sync has succeeded for two hours. Is 'promptledger serve' running?`
  return null
}

function unreadPulls({ id, state, unread_pulls_below: below }: Listed): string | null {
  if (below === null || state === 'disconnected') return null
  return `\nRepository ${id}: rebased pull requests below number ${below} are not searched yet. The next syncs continue.`
}

function reportProblem({ id, report_error: error }: Listed): string | null {
  return error === null ? null : `\nRepository ${id} cannot be reported on: ${error}`
}

function deliveryProblem({ id, delivery_error: error }: Listed): string | null {
  return error === null ? null : `\nRepository ${id}: some live texts are not delivered. ${error}`
}

function webhookProblem(repository: Listed): string | null {
  const { id, state, rejected_deliveries: count, last_rejected_at: at, last_delivery_at: accepted } = repository
  if (at === null || state === 'disconnected' || (accepted !== null && accepted >= at)) return null
  const rejected = formatCount(count, 'delivery was', 'deliveries were')
  return (
    `\nRepository ${id}: ${rejected} rejected, the last one at ${at}: ${repository.last_rejection}. Compare the webhook's secret ` +
    `on the forge, or create a new one with 'promptledger repo rotate-secret ${id}'.`
  )
}
