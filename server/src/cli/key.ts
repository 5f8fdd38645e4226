import { type Command, Option } from 'commander'
import { type ApiKey, type IssuedKey, issueKey, type Role, roles, rotateKey } from '../domain/access/api-key.ts'
import { operator } from '../domain/access/audit.ts'
import { isoTime } from '../domain/time.ts'
import { toIssuedKeyBody, toKeyBody } from '../http/keys/body.ts'
import { durationArgument, integerArgument, lifetimeArgument } from './arguments.ts'
import { keyOrFail, organisationOrFail } from './lookup.ts'
import { print, table } from './output.ts'
import { withStore } from './with-store.ts'

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
        const now = Date.now()
        const expiresAt = expires === undefined ? null : now + expires
        const terms = { organisationId: org, name, role, createdAt: now, expiresAt }
        const issued = await issueKey(store.keys, terms, operator)
        print(command, toIssuedKeyBody(issued), announce(issued))
      }),
    )

  key
    .command('list')
    .description('list the keys of an organisation')
    .requiredOption('--org <id>', '', integerArgument)
    .action(({ org }: { org: number }, command: Command) =>
      withStore(async (store) => {
        await organisationOrFail(store, org)
        const found = (await store.keys.list(org)).map(toKeyBody)
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
        const revoked = (await store.keys.revoke(id, Date.now(), operator)) as ApiKey
        print(command, toKeyBody(revoked), `Revoked key ${id}, ${revoked.name} (…${revoked.hint})`)
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
        const issued = await rotateKey(store.keys, old, overlap, now, operator)
        const until = isoTime(Math.min(now + overlap, old.expiresAt ?? Number.POSITIVE_INFINITY))
        print(command, toIssuedKeyBody(issued), `${announce(issued)}\nKey ${id} works until ${until}.`)
      }),
    )
}

function announce({ key: { id, role, organisationId }, secret }: IssuedKey): string {
  return `${secret}\nKey ${id}, role ${role}, of organisation ${organisationId}. Keep it now: it is not shown again.`
}
