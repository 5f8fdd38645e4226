#!/usr/bin/env node
import { Command, CommanderError, InvalidArgumentError } from 'commander'
import { historyCommands } from './cli/history.ts'
import { importCommands } from './cli/import.ts'
import { keyCommands } from './cli/key.ts'
import { orgCommands } from './cli/org.ts'
import { print } from './cli/output.ts'
import { promptCommands } from './cli/prompt.ts'
import { withStore } from './cli/session.ts'
import { parsePort, readConfig } from './config.ts'
import { version } from './version.ts'

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
    const { describeFirstRun, serve } = await import('./cli/serve.ts')
    const { address, firstRun } = await serve(config)
    const text = `Promptledger runs on ${address}${firstRun === null ? '' : `\n${describeFirstRun(address, firstRun)}`}`
    print(command, { address, first_run: firstRun && { key: firstRun.key, prompt_id: firstRun.promptId } }, text)
  })

program
  .command('migrate')
  .description('bring the database to the version of this code, as every start does')
  .action((_options: object, command: Command) =>
    withStore(async ({ schemaVersion }) => {
      print(command, { version: schemaVersion }, `The database is at version ${schemaVersion}`)
    }),
  )

orgCommands(program)
keyCommands(program)
promptCommands(program)
historyCommands(program)
importCommands(program)

function portArgument(text: string): number {
  const port = parsePort(text)
  if (port === undefined) throw new InvalidArgumentError('It must be a number from 0 to 65535.')
  return port
}

try {
  await program.parseAsync()
} catch (error) {
  if (error instanceof CommanderError) {
    process.exitCode = error.exitCode === 0 ? 0 : 2
  } else {
    process.stderr.write(`promptledger: ${(error as Error).message}\n`)
    process.exitCode = 1
  }
}
