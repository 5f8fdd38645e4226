import { type Command, Option } from 'commander'
import { type ApiKey, newApiKey, newSecret, type Role, roles } from '../domain/api-key.ts'
import { type Instant, isoTime } from '../domain/time.ts'
import { durationArgument, integerArgument, lifetimeArgument } from './arguments.ts'
import { keyOrFail, organisationOrFail } from './lookup.ts'
import { print, table } from './output.ts'
import { withStore } from './session.ts'

interface CreateOptions {
  org: number
  name: string
  role: Role
  expires?: number
}

export function keyCommands(program: Command): void {
  const key = program.command('key').description('API keys of an organisation')

  key
    .command('create')
    .description('create a key; it is shown this once')
    .requiredOption('--org <id>', 'the organisation it opens', integerArgument)
    .option('--name <name>', 'to tell it from others', 'unnamed')
    .addOption(new Option('--role <role>', 'what it may do').choices(roles).default('standard'))
    .option('--expires <time>', 'when it stops working by itself, such as 90d', lifetimeArgument)
    .action(({ org, name, role, expires }: CreateOptions, command: Command) =>
      withStore(async (store) => {
        await organisationOrFail(store, org)
        const secret = newSecret()
        const now = Date.now()
        const expiresAt = expires === undefined ? null : now + expires
        const created = await store.keys.create(
          newApiKey(secret, { organisationId: org, name, role, createdAt: now, expiresAt }),
        )
        print(command, withSecret(created, secret), announce(created, secret))
      }),
    )

  key
    .command('list')
    .description('list the keys of an organisation')
    .requiredOption('--org <id>', '', integerArgument)
    .action(({ org }: { org: number }, command: Command) =>
      withStore(async (store) => {
        await organisationOrFail(store, org)
        const found = (await store.keys.list(org)).map(toJson)
        const rows = found.map(({ organisation_id: _, ...row }) => row)
        print(command, found, table(rows, 'There are no keys: create one with promptledger key create --org <id>'))
      }),
    )

  key
    .command('revoke')
    .description('refuse the key from now on')
    .argument('<key-id>', '', integerArgument)
    .action((id: number, _options: object, command: Command) =>
      withStore(async (store) => {
        await keyOrFail(store, id)
        const revoked = (await store.keys.revoke(id, Date.now())) as ApiKey
        print(command, toJson(revoked), `Revoked key ${id}, ${revoked.name} (…${revoked.hint})`)
      }),
    )

  key
    .command('rotate')
    .description('create a key in the place of another, which works on until the overlap ends')
    .argument('<key-id>', '', integerArgument)
    .option('--overlap <time>', 'how long the old key works on', durationArgument, durationArgument('24h'))
    .action((id: number, { overlap }: { overlap: number }, command: Command) =>
      withStore(async (store) => {
        const old = await keyOrFail(store, id)
        const now = Date.now()
        checkAlive(old, now)
        const secret = newSecret()
        const created = await store.keys.rotate(id, newApiKey(secret, successor(old, now)), now + overlap)
        const until = isoTime(Math.min(now + overlap, old.expiresAt ?? Number.POSITIVE_INFINITY))
        print(command, withSecret(created, secret), `${announce(created, secret)}\nKey ${id} works until ${until}.`)
      }),
    )
}

function checkAlive({ id, revokedAt, expiresAt }: ApiKey, now: Instant): void {
  if (revokedAt !== null) throw new Error(`Key ${id} is revoked: create a new one with promptledger key create`)
  if (expiresAt !== null && expiresAt <= now) {
    throw new Error(`Key ${id} has expired: create a new one with promptledger key create`)
  }
}

/** The same key again: a new one lives as long as the old one was meant to. */
function successor({ organisationId, name, role, createdAt, expiresAt }: ApiKey, now: Instant) {
  return {
    organisationId,
    name,
    role,
    createdAt: now,
    expiresAt: expiresAt === null ? null : now + (expiresAt - createdAt),
  }
}

function announce({ id, role, organisationId }: ApiKey, secret: string): string {
  return `${secret}\nKey ${id}, role ${role}, of organisation ${organisationId}. Keep it now: it is not shown again.`
}

function toJson(key: ApiKey) {
  const { id, organisationId, name, role, hint, createdAt, expiresAt, revokedAt, lastUsedAt } = key
  return {
    id,
    organisation_id: organisationId,
    name,
    role,
    hint,
    created_at: isoTime(createdAt),
    expires_at: timeOrNull(expiresAt),
    revoked_at: timeOrNull(revokedAt),
    last_used_at: timeOrNull(lastUsedAt),
  }
}

function withSecret(key: ApiKey, secret: string) {
  const { id, organisation_id, name, role, created_at, expires_at } = toJson(key)
  return { id, key: secret, organisation_id, name, role, created_at, expires_at }
}

function timeOrNull(at: Instant | null): string | null {
  return at === null ? null : isoTime(at)
}
