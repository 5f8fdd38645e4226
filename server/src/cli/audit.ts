import { type Command, Option } from 'commander'
import { type AuditAction, auditActions } from '../domain/access/audit.ts'
import { pageRequest } from '../domain/page.ts'
import { parseTime } from '../domain/time.ts'
import { toAuditEntryBody } from '../http/audit/body.ts'
import { integerArgument } from './arguments.ts'
import { organisationOrFail } from './lookup.ts'
import { print, table } from './output.ts'
import { withStore } from './with-store.ts'

interface AuditOptions {
  org: number
  action?: AuditAction
  since?: string
  until?: string
  page: number
  limit: number
}

export function auditCommand(program: Command): void {
  program
    .command('audit')
    .description('list the audit log of an organisation, newest entry first')
    .requiredOption('--org <id>', 'ID of the organisation', integerArgument)
    .addOption(new Option('--action <action>', 'only entries with this action').choices(auditActions))
    .option('--since <time>', 'only entries at or after this time, ISO 8601')
    .option('--until <time>', 'only entries before this time, ISO 8601')
    .option('--page <n>', 'page number', integerArgument, 1)
    .option('--limit <n>', 'entries per page, at most 100', integerArgument, 25)
    .action(({ org, action, since, until, page, limit }: AuditOptions, command: Command) =>
      withStore(async (store) => {
        await organisationOrFail(store, org)
        const filter = {
          action: action ?? null,
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
}
