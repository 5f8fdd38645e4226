import { type Command, Option } from 'commander'
import { readConfig } from '../config.ts'
import { operator } from '../domain/access/audit.ts'
import { newOrganisation, type Organisation, validOrganisationName } from '../domain/access/organisation.ts'
import { type Plan, plans } from '../domain/access/plan.ts'
import { isoTime } from '../domain/time.ts'
import { integerArgument } from './arguments.ts'
import { organisationOrFail } from './lookup.ts'
import { formatLimit, print, table } from './output.ts'
import { withStore } from './with-store.ts'

export function orgCommands(program: Command): void {
  const org = program.command('org').description('manage organisations and their plans')

  org
    .command('create')
    .description('create an organisation')
    .argument('<name>', 'name of the organisation')
    .addOption(new Option('--plan <plan>', 'sets the monthly signal limit').choices(plans).default('free'))
    .action((name: string, { plan }: { plan: Plan }, command: Command) =>
      withStore(async (store) => {
        const organisation = await store.organisations.create(newOrganisation(name, plan, Date.now()))
        print(command, toJson(organisation), `Created ${describe(organisation)}`)
      }),
    )

  org
    .command('list')
    .description('list all organisations')
    .action((_options: object, command: Command) =>
      withStore(async (store) => {
        const rows = (await store.organisations.list()).map(toJson)
        print(command, rows, table(rows, "No organisations yet. Create one with 'promptledger org create <name>'."))
      }),
    )

  org
    .command('rename')
    .description('rename an organisation')
    .argument('<org-id>', 'ID of the organisation', integerArgument)
    .argument('<name>', 'new name')
    .action((id: number, name: string, _options: object, command: Command) =>
      withStore(async (store) => {
        await organisationOrFail(store, id)
        const valid = validOrganisationName(name)
        const organisation = (await store.organisations.rename(id, valid, Date.now(), operator)) as Organisation
        print(command, toJson(organisation), `Renamed ${describe(organisation)}`)
      }),
    )

  org
    .command('set-plan')
    .description('change the plan; applies from the next request')
    .argument('<org-id>', 'ID of the organisation', integerArgument)
    .addArgument(program.createArgument('<plan>', 'sets the monthly signal limit').choices(plans))
    .action((id: number, plan: Plan, _options: object, command: Command) =>
      withStore(async (store) => {
        await organisationOrFail(store, id)
        const organisation = (await store.organisations.setPlan(id, plan, Date.now(), operator)) as Organisation
        print(command, toJson(organisation), `Changed ${describe(organisation)}`)
      }),
    )
}

function describe({ id, name, plan }: Organisation): string {
  return `organisation ${id}, ${name}: ${plan} plan, ${formatLimit(readConfig().planLimits[plan])}.`
}

function toJson({ id, name, plan, createdAt }: Organisation) {
  return { id, name, plan, created_at: isoTime(createdAt) }
}
