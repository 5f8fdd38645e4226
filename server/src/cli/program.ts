import { Command, CommanderError } from 'commander'
import { version } from '../version.ts'
import { alertCommands } from './alert.ts'
import { archiveCommands } from './archive.ts'
import { auditCommands } from './audit.ts'
import { completionCommands } from './completion.ts'
import { demoCommand } from './demo.ts'
import { deploymentCommands } from './deployment.ts'
import { distributeCommand } from './distribute.ts'
import { doctorCommand } from './doctor.ts'
import { Failure } from './failure.ts'
import { historyCommands } from './history.ts'
import { importCommands } from './import.ts'
import { keyCommands } from './key.ts'
import { migrateCommand } from './migrate.ts'
import { orgCommands } from './org.ts'
import { visible, visibleLine } from './output.ts'
import { personCommands } from './person.ts'
import { promptCommands } from './prompt.ts'
import { blameCommand } from './remote/blame.ts'
import { diffCommand } from './remote/diff.ts'
import { impactCommand } from './remote/impact.ts'
import { logCommand } from './remote/log.ts'
import { loginCommands } from './remote/login.ts'
import { promptsCommand } from './remote/prompts.ts'
import { regressionsCommand } from './remote/regressions.ts'
import { revertCommand } from './remote/revert.ts'
import { searchCommand } from './remote/search.ts'
import { showCommand } from './remote/show.ts'
import { signalsCommands } from './remote/tail.ts'
import { triageCommand } from './remote/triage.ts'
import { trialCommands } from './remote/trials.ts'
import { repoCommands } from './repo.ts'
import { secretKeyCommands } from './secret-key.ts'
import { segmentCommands } from './segments.ts'
import { serveCommand } from './serve.ts'
import { sourceCommands } from './source.ts'

/** Runs a command and returns its exit status: 0 on success, 2 on wrong usage, otherwise see failure.ts. */
export async function run(argv: string[]): Promise<number> {
  try {
    // Without a command, as in `npx promptledger`, the service runs.
    const args = expandHelp(argv.length > 2 ? argv : [...argv, 'serve'])
    await createProgram(args[2]).parseAsync(args)
    return 0
  } catch (error) {
    // Commander has already printed the error or the requested help.
    if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : 2
    const { message } = error as Error
    if (message !== '') process.stderr.write(`promptledger: ${visibleLine(message)}\n`)
    if (!(error instanceof Failure)) return 1
    for (const line of error.details) process.stderr.write(`${visibleLine(line)}\n`)
    return error.exitCode
  }
}

/** Commander's `help` reads one name only, and shows the group for `help signals tail`. */
function expandHelp([node, script, first, ...names]: string[]): string[] {
  const args = first === 'help' && names.length > 1 ? [...names, '--help'] : [first, ...names]
  return [node, script, ...args] as string[]
}

/** The commands in the order in which `--help` lists them, or only `serve`, if it is the first argument. */
export function createProgram(firstArgument?: string): Command {
  const program = new Command('promptledger')
    .description('See which prompt changes helped or hurt your users.')
    .version(version)
    .option('--json', 'print one JSON value instead of text')
    .configureHelp({ showGlobalOptions: true })
    .showSuggestionAfterError()
    .exitOverride()
    .configureOutput({ writeErr: (text) => process.stderr.write(visible(text)) })
  // The others would take a twentieth of the service's start.
  if (firstArgument === 'serve') {
    serveCommand(program)
    return program
  }
  program.commandsGroup('Over HTTP, from anywhere (after login):')
  loginCommands(program)
  promptsCommand(program)
  logCommand(program)
  showCommand(program)
  diffCommand(program)
  blameCommand(program)
  searchCommand(program)
  impactCommand(program)
  regressionsCommand(program)
  revertCommand(program)
  triageCommand(program)
  trialCommands(program)
  signalsCommands(program)
  program.commandsGroup('Operator, on the database (DATABASE_URL):')
  serveCommand(program)
  migrateCommand(program)
  distributeCommand(program)
  doctorCommand(program)
  orgCommands(program)
  keyCommands(program)
  personCommands(program)
  promptCommands(program)
  segmentCommands(program)
  historyCommands(program)
  deploymentCommands(program)
  repoCommands(program)
  alertCommands(program)
  sourceCommands(program)
  importCommands(program)
  auditCommands(program)
  archiveCommands(program)
  secretKeyCommands(program)
  program.commandsGroup('Other:')
  demoCommand(program)
  completionCommands(program)
  program.helpCommand(true)
  return program
}
