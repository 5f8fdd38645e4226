import { type Command, InvalidArgumentError, Option } from 'commander'
import { type AuditAction, auditActions } from '../domain/access/audit.ts'
import type { ChainHead, ChainState } from '../domain/access/audit-chain.ts'
import { pageRequest } from '../domain/page.ts'
import { parseTime } from '../domain/time.ts'
import { toAuditEntryBody } from '../http/audit/body.ts'
import { integerArgument } from './arguments.ts'
import { organisationOrFail } from './lookup.ts'
import { formatCount, print, table } from './output.ts'
import { withStore } from './with-store.ts'

interface AuditOptions {
  org: number
  action?: AuditAction
  person?: number
  since?: string
  until?: string
  page: number
  limit: number
}

interface VerifyOptions {
  org?: number
  head?: ChainHead
}

export function auditCommands(program: Command): void {
  const audit = program.command('audit').description('list and verify the audit log')

  audit
    .command('list', { isDefault: true })
    .description('list the audit log of an organisation, newest entry first')
    .requiredOption('--org <id>', 'ID of the organisation', integerArgument)
    .addOption(new Option('--action <action>', 'only entries with this action').choices(auditActions))
    .option('--person <id>', 'only what this person did', integerArgument)
    .option('--since <time>', 'only entries at or after this time, ISO 8601')
    .option('--until <time>', 'only entries before this time, ISO 8601')
    .option('--page <n>', 'page number', integerArgument, 1)
    .option('--limit <n>', 'entries per page, at most 100', integerArgument, 25)
    .action(({ org, action, person, since, until, page, limit }: AuditOptions, command: Command) =>
      withStore(async (store) => {
        await organisationOrFail(store, org)
        const filter = {
          action: action ?? null,
          actor: null,
          person: person ?? null,
          since: since === undefined ? null : parseTime('--since', since),
          until: until === undefined ? null : parseTime('--until', until),
        }
        const { entries } = await store.audit.page(org, filter, pageRequest(String(page), String(limit)))
        const bodies = entries.map(toAuditEntryBody)
        const rows = bodies.map(({ at, actor, action, subject, details }) => ({
          at,
          actor: actor === null ? 'operator' : `${actor.key_id} ${actor.name}`,
          action,
          subject: `${subject.id} ${subject.name}`,
          details: details && JSON.stringify(details),
        }))
        print(command, bodies, table(rows, 'No audit entries match.'))
      }),
    )

  audit
    .command('verify')
    .description(
      'check that no entry of the audit log was changed or removed; exits with status 1 and the first broken entry otherwise',
    )
    .option('--org <id>', 'only this organisation (default: all)', integerArgument)
    .option(
      '--head <n:hash>',
      'also check that the log still contains this head, printed by an earlier run',
      headArgument,
    )
    .action(({ org, head }: VerifyOptions, command: Command) =>
      withStore(async (store) => {
        if (head !== undefined && org === undefined)
          throw new Error('--head needs --org, because each organisation has its own head.')
        const organisations =
          org === undefined ? await store.organisations.list() : [await organisationOrFail(store, org)]
        const results: ChainResult[] = []
        for (const { id } of organisations) results.push({ id, ...(await store.audit.verify(id, head)) })
        print(command, results.map(toJson), results.map(describe).join('\n') || 'There are no organisations.')
        const broken = results.filter(({ brokenAt }) => brokenAt !== null).length
        if (broken > 0) throw new Error(`The audit log of ${broken} of ${results.length} organisations is broken`)
      }),
    )
}

type ChainResult = ChainState & { id: number }

function toJson({ id, entries, hash, unchained, brokenAt }: ChainResult) {
  return { organisation_id: id, entries, head: `${entries}:${hash}`, unchained, broken_at: brokenAt }
}

function describe({ id, entries, hash, brokenAt }: ChainResult): string {
  if (brokenAt !== null) return `organisation ${id}: entry ${brokenAt.seq} ${brokenAt.problem}`
  return `organisation ${id}: ${formatCount(entries, 'entry', 'entries')}, head ${entries}:${hash}`
}

function headArgument(text: string): ChainHead {
  const [, entries, hash] = /^([1-9]\d{0,14}):([0-9a-f]{64})$/.exec(text) ?? []
  if (hash === undefined)
    throw new InvalidArgumentError('Must be a number and a hash, such as 57:9f86d081…, as printed before.')
  return { entries: Number(entries), hash }
}
