import { type Command, Option } from 'commander'
import { operator } from '../domain/access/audit.ts'
import { type Action, actions, type NewHistoryEntry, newHistoryEntry } from '../domain/history/entry.ts'
import { parseTime } from '../domain/time.ts'
import { toHistoryEntryBody } from '../http/history/body.ts'
import { integerArgument, namingOptions, type OptionNames } from './arguments.ts'
import { promptOrFail } from './lookup.ts'
import { print } from './output.ts'
import { withStore } from './with-store.ts'

interface RecordOptions {
  action: Action
  userName: string
  userEmail: string
  commit: string
  branch: string
  prNumber?: number
  prUrl?: string
  at?: string
}

export function historyCommands(program: Command): void {
  const history = program.command('history').description("manage a prompt's change history")

  history
    .command('record')
    .description('add an entry; does nothing if the same entry exists')
    .argument('<prompt>', 'public ID, name or path of the prompt')
    .addOption(new Option('--action <action>', 'what happened').choices(actions).makeOptionMandatory())
    .requiredOption('--user-name <name>', 'author of the change')
    .requiredOption('--user-email <email>', 'email address of the author')
    .requiredOption('--commit <sha>', 'full commit hash')
    .requiredOption('--branch <name>', 'branch that contains the commit')
    .option('--pr-number <n>', 'number of the pull request, for pr_* actions', integerArgument)
    .option('--pr-url <url>', 'URL of the pull request, for pr_* actions')
    .option('--at <time>', 'when it happened, ISO 8601 (default: now)')
    .action((reference: string, options: RecordOptions, command: Command) =>
      withStore(async (store) => {
        const prompt = await promptOrFail(store, reference)
        const recorded = await store.history.record(prompt, entryFrom(options), Date.now(), operator)
        const text = `Recorded entry ${recorded.id} for prompt ${prompt.publicId}, ${prompt.name}.`
        print(command, toHistoryEntryBody(recorded), text)
      }),
    )
}

const optionOf: OptionNames = {
  'user.name': '--user-name',
  'user.email': '--user-email',
  commitSha: '--commit',
  branchName: '--branch',
  prNumber: '--pr-number',
  prUrl: '--pr-url',
}

function entryFrom(options: RecordOptions): NewHistoryEntry {
  const createdAt = options.at === undefined ? Date.now() : parseTime('--at', options.at)
  try {
    return newHistoryEntry({
      action: options.action,
      user: { name: options.userName, email: options.userEmail },
      commitSha: options.commit,
      prNumber: options.prNumber ?? null,
      prUrl: options.prUrl ?? null,
      branchName: options.branch,
      createdAt,
    })
  } catch (error) {
    return namingOptions(optionOf)(error as Error)
  }
}
