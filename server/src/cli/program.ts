import { Command, CommanderError } from 'commander'
import { version } from '../version.ts'
import { alertCommands } from './alert.ts'
import { archiveCommands } from './archive.ts'
import { auditCommands } from './audit.ts'
import { demoCommand } from './demo.ts'
import { deploymentCommands } from './deployment.ts'
import { doctorCommand } from './doctor.ts'
import { historyCommands } from './history.ts'
import { importCommands } from './import.ts'
import { keyCommands } from './key.ts'
import { migrateCommand } from './migrate.ts'
import { orgCommands } from './org.ts'
import { visible, visibleLine } from './output.ts'
import { promptCommands } from './prompt.ts'
import { repoCommands } from './repo.ts'
import { secretKeyCommands } from './secret-key.ts'
import { segmentCommands } from './segments.ts'
import { serveCommand } from './serve.ts'

/** Runs a command and returns its exit status: 0 on success, 1 on failure, 2 on wrong usage. */
export async function run(argv: string[]): Promise<number> {
  try {
    await createProgram().parseAsync(argv)
    return 0
  } catch (error) {
    // Commander has already printed the error or the requested help.
    if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : 2
    process.stderr.write(`promptledger: ${visibleLine((error as Error).message)}\n`)
    return 1
  }
}

/** The commands in the order in which `--help` lists them. */
function createProgram(): Command {
  const program = new Command('promptledger')
    .description('See which prompt changes helped or hurt your users.')
    .version(version)
    .option('--json', 'print one JSON value instead of text')
    .configureHelp({ showGlobalOptions: true })
    .showSuggestionAfterError()
    .exitOverride()
    .configureOutput({ writeErr: (text) => process.stderr.write(visible(text)) })
  serveCommand(program)
  demoCommand(program)
  migrateCommand(program)
  doctorCommand(program)
  orgCommands(program)
  keyCommands(program)
  promptCommands(program)
  segmentCommands(program)
  historyCommands(program)
  deploymentCommands(program)
  repoCommands(program)
  alertCommands(program)
  importCommands(program)
  auditCommands(program)
  archiveCommands(program)
  secretKeyCommands(program)
  return program
}
