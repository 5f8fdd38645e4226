import { Command, CommanderError, InvalidArgumentError } from 'commander'
import { parsePort, readConfig } from '../config.ts'
import { version } from '../version.ts'
import { archiveCommands } from './archive.ts'
import { auditCommands } from './audit.ts'
import { historyCommands } from './history.ts'
import { importCommands } from './import.ts'
import { keyCommands } from './key.ts'
import { orgCommands } from './org.ts'
import { print } from './output.ts'
import { promptCommands } from './prompt.ts'
import { repoCommands } from './repo.ts'
import { withStore } from './with-store.ts'

/** Runs the command that the arguments name and gives the exit status: 0, 1 where it failed, 2 where it was called wrongly. */
export async function run(argv: string[]): Promise<number> {
  try {
    await newProgram().parseAsync(argv)
    return 0
  } catch (error) {
    // Commander has printed what is wrong, or the help that was asked for.
    if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : 2
    process.stderr.write(`promptledger: ${(error as Error).message}\n`)
    return 1
  }
}

function newProgram(): Command {
  const program = new Command('promptledger')
    .description('The record of what happened to your prompts, and what users thought of it.')
    .version(version)
    .option('--json', 'print one JSON value instead of text')
    .configureHelp({ showGlobalOptions: true })
    .showSuggestionAfterError()
    .exitOverride()

  program
    .command('serve')
    .description('run the service')
    .option('--port <n>', 'overrides PORT', portArgument)
    .option('--host <host>', 'overrides HOST')
    .action(async (options: { port?: number; host?: string }, command: Command) => {
      const config = { ...readConfig(process.env), ...options }
      const { describeFirstRun, serve } = await import('../service/serve.ts')
      const { address, metricsAddress, firstRun } = await serve(config)
      const text = `Promptledger runs on ${address}${firstRun === null ? '' : `\n${describeFirstRun(address, firstRun)}`}`
      const first = firstRun && { key: firstRun.secret, prompt_id: firstRun.promptId }
      print(command, { address, ...(metricsAddress && { metrics: metricsAddress }), first_run: first }, text)
    })

  program
    .command('demo')
    .description('run the service on a throw-away database with a year of made-up history and signals')
    .option('--port <n>', 'overrides PORT', portArgument)
    .option('--host <host>', 'overrides HOST')
    .action(async (options: { port?: number; host?: string }, command: Command) => {
      const { demo, demoBody, describeDemo } = await import('./demo.ts')
      const running = await demo({ ...readConfig(process.env), ...options })
      print(command, demoBody(running), describeDemo(running))
    })

  program
    .command('migrate')
    .description('bring the database to the version of this code, as every start does')
    .action((_options: object, command: Command) =>
      withStore(async ({ schemaVersion }) => {
        print(command, { version: schemaVersion }, `The database is at version ${schemaVersion}`)
      }),
    )

  program
    .command('doctor')
    .description(
      'look for what is wrong: settings, database, migrations, git, disk, clock, secrets, and counts that must agree. Changes ' +
        'nothing and holds nobody up; counting takes a while on large databases. Exit status 1 where something is wrong',
    )
    .action(async (_options: object, command: Command) => {
      const { describeFindings, doctor } = await import('../doctor/doctor.ts')
      const findings = await doctor(process.env)
      print(command, findings, describeFindings(findings))
      const count = findings.filter(({ state }) => state === 'wrong').length
      if (count > 0) throw new Error(`${count} of ${findings.length} checks found something wrong`)
    })

  orgCommands(program)
  keyCommands(program)
  promptCommands(program)
  historyCommands(program)
  repoCommands(program)
  importCommands(program)
  auditCommands(program)
  archiveCommands(program)
  return program
}

function portArgument(text: string): number {
  const port = parsePort(text)
  if (port === undefined) throw new InvalidArgumentError('It must be a number from 0 to 65535.')
  return port
}
