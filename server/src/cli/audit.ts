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

export function auditCommands(program: Command): void {
  program
    .command('audit')
    .description('list who did what in an organisation, newest first')
    .requiredOption('--org <id>', '', integerArgument)
    .addOption(new Option('--action <action>', 'only these').choices(auditActions))
    .option('--since <time>', 'from this time on, ISO 8601')
    .option('--until <time>', 'before this time, ISO 8601')
    .option('--page <n>', '', integerArgument, 1)
    .option('--limit <n>', 'how many, up to 100', integerArgument, 25)
    .action(({ org, action, since, until, page, limit }: AuditOptions, command: Command) =>
      withStore(async (store) => {
        await organisationOrFail(store, org)
        const filter = {
          action: action ?? null,
          since: since === undefined ? null : parseTime('--since', since),
          until: until === undefined ? null : parseTime('--until', until),
        }
        const { entries } = await store.audit.page(org, filter, pageRequest(String(page), String(limit)))
        const found = entries.map(toAuditEntryBody)
        const rows = found.map(({ at, actor, action, subject, details }) => ({
          at,
          actor: actor === null ? 'operator' : `${actor.key_id} ${actor.name}`,
          action,
          subject: `${subject.id} ${subject.name}`,
          details: details && JSON.stringify(details),
        }))
        print(command, found, table(rows, 'There is nothing'))
      }),
    )
}
