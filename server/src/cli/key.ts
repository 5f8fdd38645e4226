import { type Command, Option } from 'commander'
import type { Config } from '../config.ts'
import { type ApiKey, type IssuedKey, issueKey, type Role, roles, rotateKey } from '../domain/access/api-key.ts'
import { operator } from '../domain/access/audit.ts'
import type { Vault } from '../domain/repositories/vault.ts'
import type { Store } from '../domain/store.ts'
import { isoTime } from '../domain/time.ts'
import { toIssuedKeyBody, toKeyBody } from '../http/keys/body.ts'
import { integerArgument, lifetimeArgument, overlapOption } from './arguments.ts'
import { keyOrFail, organisationOrFail } from './lookup.ts'
import { print, table } from './output.ts'
import { withStore } from './with-store.ts'

interface CreateOptions {
  org: number
  name: string
  role: Role
  prompts?: string
  expires?: number
}

export function keyCommands(program: Command): void {
  const key = program.command('key').description('manage API keys')

  key
    .command('create')
    .description('create a key and print it; it is not shown again')
    .requiredOption('--org <id>', 'ID of the organisation the key gives access to', integerArgument)
    .option('--name <name>', 'label in lists and in the audit log', 'unnamed')
    .addOption(new Option('--role <role>', 'what the key may do').choices(roles).default('standard'))
    .option('--prompts <glob>', "limit the key to prompts whose name or path matches, such as 'prompts/support/**'")
    .option('--expires <duration>', 'time until the key expires, such as 90d (default: never)', lifetimeArgument)
    .action(({ org, name, role, prompts, expires }: CreateOptions, command: Command) =>
      withStore(async (store, config) => {
        await organisationOrFail(store, org)
        const now = Date.now()
        const expiresAt = expires === undefined ? null : now + expires
        const details = { organisationId: org, name, role, prompts: prompts ?? null, createdAt: now, expiresAt }
        const issued = await issueKey(store.keys, details, operator, await vaultFor(role, config, store))
        print(command, toIssuedKeyBody(issued), describeIssued(issued))
      }),
    )

  key
    .command('list')
    .description('list the keys of an organisation')
    .requiredOption('--org <id>', 'ID of the organisation', integerArgument)
    .action(({ org }: { org: number }, command: Command) =>
      withStore(async (store) => {
        await organisationOrFail(store, org)
        const keys = (await store.keys.list(org)).map(toKeyBody)
        const rows = keys.map(({ organisation_id: _, ...row }) => row)
        print(command, keys, table(rows, `No keys yet. Create one with 'promptledger key create --org ${org}'.`))
      }),
    )

  key
    .command('revoke')
    .description('revoke a key; it is rejected from the next request')
    .argument('<key-id>', 'ID of the key', integerArgument)
    .action((id: number, _options: object, command: Command) =>
      withStore(async (store) => {
        await keyOrFail(store, id)
        const revoked = (await store.keys.revoke(id, Date.now(), operator)) as ApiKey
        print(command, toKeyBody(revoked), `Revoked key ${id}, ${revoked.name} (…${revoked.hint}).`)
      }),
    )

  key
    .command('rotate')
    .description('create a replacement for a key; the old key expires when the overlap ends')
    .argument('<key-id>', 'ID of the key to replace', integerArgument)
    .addOption(overlapOption('how long the old key stays valid'))
    .action((id: number, { overlap }: { overlap: number }, command: Command) =>
      withStore(async (store, config) => {
        const old = await keyOrFail(store, id)
        const now = Date.now()
        const issued = await rotateKey(store.keys, old, overlap, now, operator, await vaultFor(old.role, config, store))
        const until = isoTime(Math.min(now + overlap, old.expiresAt ?? Number.POSITIVE_INFINITY))
        print(command, toIssuedKeyBody(issued), `${describeIssued(issued)}\nThe old key ${id} expires at ${until}.`)
      }),
    )
}

/** Imported and opened on demand: on SQLite, opening it creates a secret key, which other keys do not need. */
async function vaultFor(role: Role, config: Config, { secrets }: Store): Promise<Vault | null> {
  if (role !== 'signing') return null
  const { openVault } = await import('../service/secret-key.ts')
  return openVault(config, secrets)
}

function describeIssued({ key: { id, role, prompts, organisationId }, secret }: IssuedKey): string {
  const limit = prompts === null ? '' : `, limited to ${prompts}`
  return `${secret}\nCreated key ${id} (${role}${limit}) for organisation ${organisationId}. Save it now: it is not shown again.`
}
