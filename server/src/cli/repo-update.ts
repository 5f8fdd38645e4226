import { resolve } from 'node:path'
import { Argument, type Command, Option } from 'commander'
import { operator } from '../domain/access/audit.ts'
import { reportScopes } from '../domain/repositories/report-token.ts'
import type { Repository } from '../domain/repositories/repository.ts'
import type { RepositoryUpdate } from '../domain/repositories/repository-service.ts'
import { toRepositoryBody } from '../http/repositories/body.ts'
import { integerArgument } from './arguments.ts'
import { repositoryOrFail } from './lookup.ts'
import { print, printWarnings } from './output.ts'
import { openRepositoryService, publicUrl, withOptionName } from './repository-service.ts'
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

interface ProductionOptions {
  default?: boolean
  none?: boolean
}

/** `repo set-url`, `set-token`, `set-production` and `set-reports`: a repository that moved, or whose token expired, keeps its webhook and history. */
export function repoUpdateCommands(repo: Command): void {
  repo
    .command('set-url')
    .description('set the new URL of a renamed or moved repository; its webhook, prompts and history stay')
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
      update(command, id, options, {
        url: url.startsWith('.') ? resolve(url) : url,
        token: tokenFrom(options),
        sshKey: secretFrom(options.sshKeyEnv) ?? undefined,
        sshHostKey: options.sshHostKey,
      }),
    )

  repo
    .command('set-token')
    .description('replace the token of a repository; its webhook, prompts and history stay')
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
    .description('set which environments are production: their deployments decide what is live')
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
    .description(
      'turn reports on pull requests on or off: one comment on each that made prompts worse, and a status on its commit',
    )
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
    const updated = await service.update(repository, changes, operator).catch((error) => {
      throw withOptionName(error)
    })
    printWarnings(updated.warnings)
    const text = describeUpdate(updated.repository, changes)
    const body = toRepositoryBody(updated.repository, publicUrl(config), Date.now())
    print(command, { ...body, warnings: updated.warnings }, text)
  })
}

function describeUpdate(repository: Repository, changes: RepositoryUpdate): string {
  const { id, url, forge, productionEnvironments: patterns } = repository
  if (changes.reportsOnPulls !== undefined) {
    return changes.reportsOnPulls
      ? `Regressions are told on the pull requests of repository ${id}, ${url}. Its token needs ${reportScopes(forge)}.`
      : `Regressions are no longer told on the pull requests of repository ${id}, ${url}.`
  }
  if (changes.productionEnvironments !== undefined) {
    const names = patterns === null ? 'the default ones' : patterns.join(', ') || 'none, so merges decide what is live'
    return `The production environments of repository ${id}, ${url}, are ${names}.`
  }
  const what = changes.url === undefined ? 'The token of repository' : 'Repository'
  return `${what} ${id}, ${url}, is changed. git can read it; the service syncs it now, with the same webhook.`
}

function removeTokenOption(): Option {
  return new Option('--remove-token', 'go without a token, as for a public repository').conflicts('tokenEnv')
}

function tokenFrom({ tokenEnv, removeToken }: TokenOptions): string | null | undefined {
  return removeToken ? null : (secretFrom(tokenEnv) ?? undefined)
}
