import type { Command } from 'commander'
import { operator } from '../domain/access/audit.ts'
import { newPrompt, type Prompt } from '../domain/prompt.ts'
import { isoTime } from '../domain/time.ts'
import { integerArgument } from './arguments.ts'
import { organisationOrFail, promptOrFail } from './lookup.ts'
import { print, table } from './output.ts'
import { withStore } from './with-store.ts'

export function promptCommands(program: Command): void {
  const prompt = program.command('prompt').description('prompts of an organisation')

  prompt
    .command('create')
    .description('create a prompt')
    .requiredOption('--org <id>', '', integerArgument)
    .requiredOption('--name <name>', '')
    .action(({ org, name }: { org: number; name: string }, command: Command) =>
      withStore(async (store) => {
        await organisationOrFail(store, org)
        const created = await store.prompts.create(newPrompt(org, name, Date.now()), operator)
        print(command, toJson(created), `Created prompt ${created.publicId}, ${created.name}`)
      }),
    )

  prompt
    .command('list')
    .description('list the prompts of an organisation')
    .requiredOption('--org <id>', '', integerArgument)
    .action(({ org }: { org: number }, command: Command) =>
      withStore(async (store) => {
        await organisationOrFail(store, org)
        const found = (await store.prompts.list(org)).map(toJson)
        const rows = found.map(({ organisation_id: _, ...row }) => row)
        print(command, found, table(rows, 'There are no prompts: create one with promptledger prompt create'))
      }),
    )

  prompt
    .command('delete')
    .description('answer requests for the prompt with "not found" from now on')
    .argument('<pmt_id>')
    .action((publicId: string, _options: object, command: Command) =>
      withStore(async (store) => {
        const found = await promptOrFail(store, publicId)
        await store.prompts.delete(found, Date.now(), operator)
        print(command, toJson(found), `Deleted prompt ${found.publicId}, ${found.name}`)
      }),
    )
}

function toJson({ publicId, organisationId, name, createdAt }: Prompt) {
  return { id: publicId, organisation_id: organisationId, name, created_at: isoTime(createdAt) }
}
