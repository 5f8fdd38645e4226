import type { Command } from 'commander'
import { operator } from '../domain/access/audit.ts'
import { validSegmentKeys } from '../domain/impact/reading/segment-keys.ts'
import { integerArgument } from './arguments.ts'
import { organisationOrFail, promptOrFail } from './lookup.ts'
import { print } from './output.ts'
import { withStore } from './with-store.ts'

/** `segments get`, `segments set` and `segments set-prompt`: the keys of the metadata that divide signals into segments. */
export function segmentCommands(program: Command): void {
  const segments = program.command('segments').description('manage the metadata keys that divide signals into segments')
  const keysArgument = ['[keys...]', 'up to five keys, such as model; none to declare no segments'] as const

  segments
    .command('get')
    .description('show the keys of an organisation')
    .requiredOption('--org <id>', 'ID of the organisation', integerArgument)
    .action(({ org }: { org: number }, command: Command) =>
      withStore(async (store) => {
        await organisationOrFail(store, org)
        const keys = await store.segments.ofOrganisation(org)
        print(command, { keys }, describe(keys))
      }),
    )

  segments
    .command('set')
    .description('declare the keys of an organisation; applies from the next request')
    .argument(...keysArgument)
    .requiredOption('--org <id>', 'ID of the organisation', integerArgument)
    .action((given: string[], { org }: { org: number }, command: Command) =>
      withStore(async (store) => {
        await organisationOrFail(store, org)
        const keys = validSegmentKeys(given)
        await store.segments.setForOrganisation(org, keys, Date.now(), operator)
        print(command, { keys }, describe(keys))
      }),
    )

  segments
    .command('set-prompt')
    .description('declare the keys of a prompt, instead of those of its organisation')
    .argument('<prompt>', 'public ID, name or path of the prompt')
    .argument(...keysArgument)
    .option('--inherit', 'use the keys of the organisation again')
    .action((reference: string, given: string[], { inherit = false }: { inherit?: boolean }, command: Command) =>
      withStore(async (store) => {
        if (inherit && given.length > 0) throw new Error('--inherit takes no keys. Leave out one of them.')
        const prompt = await promptOrFail(store, reference)
        await store.segments.setForPrompt(prompt, inherit ? null : validSegmentKeys(given), Date.now(), operator)
        const result = await store.segments.ofPrompt(prompt)
        print(command, result, describe(result.keys))
      }),
    )
}

function describe(keys: string[]): string {
  return keys.length === 0 ? 'No segments are declared.' : `Segments: ${keys.join(', ')}.`
}
