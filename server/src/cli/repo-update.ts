import { resolve } from 'node:path'
import { Argument, type Command, Option } from 'commander'
import { operator } from '../domain/access/audit.ts'
import { tokenScopes } from '../domain/repositories/report-token.ts'
import type { Repository } from '../domain/repositories/repository.ts'
import type { RepositoryUpdate } from '../domain/repositories/repository-service.ts'
import { isSetting } from '../domain/repositories/settings.ts'
import { toRepositoryBody } from '../http/repositories/body.ts'
import { integerArgument, namingOptions } from './arguments.ts'
import { repositoryOrFail } from './lookup.ts'
import { print, printWarnings } from './output.ts'
import { addSettingOptions, settingsOf, takeLast } from './repo-settings.ts'
import { openRepositoryService, publicUrl, repositoryOptions } from './repository-service.ts'
import { secretFrom, withStore } from './with-store.ts'

interface TokenOptions {
  tokenEnv?: string
  removeToken?: boolean
}

interface UrlOptions extends TokenOptions {
  sshKeyEnv?: string
  sshHostKey?: string
  allowHttp?: boolean
}

export const allowHttpOption = new Option(
  '--allow-http',
  'accept a plain http:// URL; everything, including the token, is sent unencrypted',
)

interface UpdateOptions extends UrlOptions {
  url?: string
}

interface ProductionOptions {
  default?: boolean
  none?: boolean
}

/** `repo update`, and what it replaces: a repository that moved, or whose token expired, keeps its webhook and history. */
export function repoUpdateCommands(repo: Command): void {
  const all = repo
    .command('update')
    .description(
      'change the URL, the credentials or the settings of a repository; its webhook, prompts and history stay',
    )
    // Not required, so that a list of values before it can be told to end: see `takeLast`.
    .argument('[repo-id]', 'repository', integerArgument)
    .usage('<repo-id> [options]')
    .option('--url <url>', 'new URL of a renamed or moved repository, or a folder on this machine')
    .option('--token-env <name>', 'environment variable with a new token')
    .addOption(removeTokenOption())
    .option('--ssh-key-env <name>', 'environment variable with another private ssh key for this repository')
    .option('--ssh-host-key <key>', "the server's key, such as 'ssh-ed25519 AAAAC3…', if it has a new one")
    .addOption(allowHttpOption)
  addSettingOptions(all).action((given: number | undefined, options: UpdateOptions, command: Command) => {
    const id = given ?? takeLast(command, integerArgument)
    if (id === undefined) command.error("error: missing required argument 'repo-id'")
    const changes = { ...connectionFrom(options.url, options), ...settingsOf(command) }
    if (Object.values(changes).every((value) => value === undefined)) command.error('error: pass what to change')
    return update(command, id, options, changes)
  })

  repo
    .command('set-url')
    .description('the same as repo update --url')
    .argument('<repo-id>', 'repository', integerArgument)
    .argument('<url>', 'https://…, ssh://…, git@host:path, or a folder on this machine')
    .option(
      '--token-env <name>',
      'environment variable with a token; required if the server changes and there is a token',
    )
    .addOption(removeTokenOption())
    .option('--ssh-key-env <name>', 'environment variable with another private ssh key for this repository')
    .option('--ssh-host-key <key>', "the server's key, such as 'ssh-ed25519 AAAAC3…', if it has a new one")
    .addOption(allowHttpOption)
    .action((id: number, url: string, options: UrlOptions, command: Command) =>
      update(command, id, options, connectionFrom(url, options)),
    )

  repo
    .command('set-token')
    .description('the same as repo update --token-env or --remove-token')
    .argument('<repo-id>', 'repository', integerArgument)
    .option('--token-env <name>', 'environment variable with the new token')
    .addOption(removeTokenOption())
    .action((id: number, options: TokenOptions, command: Command) => {
      const token = tokenFrom(options)
      if (token === undefined) command.error("error: pass '--token-env <name>' or '--remove-token'")
      return update(command, id, {}, { token })
    })

  repo
    .command('set-production')
    .description('the same as repo update --production-environments')
    .argument('<repo-id>', 'repository', integerArgument)
    .argument('[environments...]', 'globs, such as production or prod-*')
    .addOption(new Option('--default', 'what the forge calls production, and the names production, prod and live'))
    .addOption(new Option('--none', 'no environment: merges decide what is live').conflicts('default'))
    .action((id: number, environments: string[], options: ProductionOptions, command: Command) => {
      const isChosen = options.default === true || options.none === true
      if (isChosen === environments.length > 0) {
        command.error("error: pass environments, '--default' or '--none'")
      }
      return update(command, id, {}, { productionEnvironments: options.default ? null : environments })
    })

  repo
    .command('set-reports')
    .description('the same as repo update --reports-on-pulls')
    .argument('<repo-id>', 'repository', integerArgument)
    .addArgument(new Argument('<state>', 'whether to report').choices(['on', 'off']))
    .action((id: number, state: 'on' | 'off', _options: object, command: Command) =>
      update(command, id, {}, { reportsOnPulls: state === 'on' }),
    )
}

async function update(
  command: Command,
  id: number,
  { allowHttp }: UrlOptions,
  changes: RepositoryUpdate,
): Promise<void> {
  await withStore(async (store, config) => {
    const repository = await repositoryOrFail(store, id)
    const service = await openRepositoryService(config, store, { allowHttp })
    const updated = await service.update(repository, changes, operator).catch(namingOptions(repositoryOptions))
    printWarnings(updated.warnings)
    const text = describeUpdate(updated.repository, changes)
    const body = toRepositoryBody(updated.repository, publicUrl(config), Date.now())
    print(command, { ...body, warnings: updated.warnings }, text)
  })
}

function describeUpdate(repository: Repository, changes: RepositoryUpdate): string {
  const { id, url, forge, productionEnvironments: patterns } = repository
  const given = Object.entries(changes).flatMap(([key, value]) => (value === undefined ? [] : key))
  const [only] = given.length === 1 ? given : []
  if (only === 'reportsOnPulls') {
    return changes.reportsOnPulls
      ? `Regressions are told on the pull requests of repository ${id}, ${url}. Its token needs ${tokenScopes.reports[forge]}.`
      : `Regressions are no longer told on the pull requests of repository ${id}, ${url}.`
  }
  if (only === 'productionEnvironments') {
    const names = patterns === null ? 'the default ones' : patterns.join(', ') || 'none, so merges decide what is live'
    return `The production environments of repository ${id}, ${url}, are ${names}.`
  }
  if (given.some(isSetting)) return `Repository ${id}, ${url}, is changed.`
  const what = only === 'token' ? 'The token of repository' : 'Repository'
  return `${what} ${id}, ${url}, is changed. git can read it; the service syncs it now, with the same webhook.`
}

function connectionFrom(url: string | undefined, options: UrlOptions): RepositoryUpdate {
  return {
    url: url?.startsWith('.') ? resolve(url) : url,
    token: tokenFrom(options),
    sshKey: secretFrom(options.sshKeyEnv) ?? undefined,
    sshHostKey: options.sshHostKey,
  }
}

function removeTokenOption(): Option {
  return new Option('--remove-token', 'go without a token, as for a public repository').conflicts('tokenEnv')
}

function tokenFrom({ tokenEnv, removeToken }: TokenOptions): string | null | undefined {
  return removeToken ? null : (secretFrom(tokenEnv) ?? undefined)
}
