import type { Command } from 'commander'
import { operator } from '../domain/access/audit.ts'
import { newPrompt, type Prompt } from '../domain/prompt.ts'
import { isoTime } from '../domain/time.ts'
import { integerArgument } from './arguments.ts'
import { organisationOrFail, promptOrFail } from './lookup.ts'
import { print, table } from './output.ts'
import { withStore } from './with-store.ts'

export function promptCommands(program: Command): void {
  const prompt = program.command('prompt').description('manage prompts')

  prompt
    .command('create')
    .description('create a prompt')
    .requiredOption('--org <id>', 'ID of the organisation the prompt belongs to', integerArgument)
    .requiredOption('--name <name>', 'name of the prompt, such as prompts/welcome.md')
    .action(({ org, name }: { org: number; name: string }, command: Command) =>
      withStore(async (store) => {
        await organisationOrFail(store, org)
        const created = await store.prompts.create(newPrompt(org, name, Date.now()), operator)
        print(command, toJson(created), `Created prompt ${created.publicId}, ${created.name}.`)
      }),
    )

  prompt
    .command('list')
    .description('list the prompts of an organisation')
    .requiredOption('--org <id>', 'ID of the organisation', integerArgument)
    .action(({ org }: { org: number }, command: Command) =>
      withStore(async (store) => {
        await organisationOrFail(store, org)
        const prompts = (await store.prompts.list(org)).map(toJson)
        const rows = prompts.map(({ organisation_id: _, ...row }) => row)
        const emptyText = `No prompts yet. Create one with 'promptledger prompt create --org ${org} --name <name>'.`
        print(command, prompts, table(rows, emptyText))
      }),
    )

  prompt
    .command('delete')
    .description('delete a prompt; the API returns "not found" for it from the next request')
    .argument('<prompt>', 'public ID, name or path of the prompt')
    .action((reference: string, _options: object, command: Command) =>
      withStore(async (store) => {
        const deleted = await promptOrFail(store, reference)
        await store.prompts.delete(deleted, Date.now(), operator)
        print(command, toJson(deleted), `Deleted prompt ${deleted.publicId}, ${deleted.name}.`)
      }),
    )
}

function toJson({ publicId, organisationId, name, createdAt }: Prompt) {
  return { id: publicId, organisation_id: organisationId, name, created_at: isoTime(createdAt) }
}
