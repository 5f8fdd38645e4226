import type { Command } from 'commander'
import { operator } from '../domain/access/audit.ts'
import { toPersonBody } from '../http/people/body.ts'
import { integerArgument } from './arguments.ts'
import { organisationOrFail, personOrFail } from './lookup.ts'
import { print, table } from './output.ts'
import { withStore } from './with-store.ts'

export function personCommands(program: Command): void {
  const person = program.command('person').description('manage the people of an organisation')

  person
    .command('list')
    .description('list the people of an organisation')
    .requiredOption('--org <id>', 'ID of the organisation', integerArgument)
    .action(({ org }: { org: number }, command: Command) =>
      withStore(async (store) => {
        await organisationOrFail(store, org)
        const people = (await store.people.list(org)).map(toPersonBody)
        print(command, people, table(people, 'No one has joined yet. Admins invite them on the page People.'))
      }),
    )

  person
    .command('disable')
    .description('end the sessions of a person and revoke their keys; they can no longer sign in')
    .argument('<person-id>', 'ID of the person', integerArgument)
    .action((id: number, _options: object, command: Command) =>
      withStore(async (store) => {
        const disabled = await store.people.disable(await personOrFail(store, id), Date.now(), operator)
        print(command, toPersonBody(disabled), `Disabled person ${id}, ${disabled.email}.`)
      }),
    )

  person
    .command('enable')
    .description('let a person sign in again; their keys stay revoked')
    .argument('<person-id>', 'ID of the person', integerArgument)
    .action((id: number, _options: object, command: Command) =>
      withStore(async (store) => {
        const enabled = await store.people.enable(await personOrFail(store, id), Date.now(), operator)
        print(command, toPersonBody(enabled), `Enabled person ${id}, ${enabled.email}.`)
      }),
    )

  person
    .command('delete')
    .description('delete the name and address of a person, end their sessions and revoke their keys')
    .argument('<person-id>', 'ID of the person', integerArgument)
    .action((id: number, _options: object, command: Command) =>
      withStore(async (store) => {
        await store.people.delete(await personOrFail(store, id), Date.now(), operator)
        print(command, { id }, `Deleted person ${id}.`)
      }),
    )
}
