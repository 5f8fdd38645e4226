import { type Command, Option } from 'commander'
import { type Action, actions, newHistoryEntry } from '../domain/history/entry.ts'
import { parseTime } from '../domain/time.ts'
import { toHistoryEntryBody } from '../http/history/body.ts'
import { integerArgument } from './arguments.ts'
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
  const history = program.command('history').description('the edit history of a prompt')

  history
    .command('record')
    .description('add an entry; recording the same one again changes nothing')
    .argument('<pmt_id>')
    .addOption(new Option('--action <action>', 'what happened').choices(actions).makeOptionMandatory())
    .requiredOption('--user-name <name>', 'who made the change')
    .requiredOption('--user-email <email>', '')
    .requiredOption('--commit <sha>', 'the full commit hash')
    .requiredOption('--branch <name>', 'the branch that holds the commit')
    .option('--pr-number <n>', 'the pull request, for the pr_ actions', integerArgument)
    .option('--pr-url <url>', 'its address')
    .option('--at <time>', 'when it happened, ISO 8601 (default: now)')
    .action((publicId: string, options: RecordOptions, command: Command) =>
      withStore(async (store) => {
        const prompt = await promptOrFail(store, publicId)
        const entry = newHistoryEntry({
          action: options.action,
          user: { name: options.userName, email: options.userEmail },
          commitSha: options.commit,
          prNumber: options.prNumber ?? null,
          prUrl: options.prUrl ?? null,
          branchName: options.branch,
          createdAt: options.at === undefined ? Date.now() : parseTime('--at', options.at),
        })
        const recorded = await store.history.record(prompt, entry)
        print(
          command,
          toHistoryEntryBody(recorded),
          `Recorded entry ${recorded.id} of ${prompt.publicId}, ${prompt.name}`,
        )
      }),
    )
}
