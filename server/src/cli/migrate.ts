import type { Command } from 'commander'
import { print } from './output.ts'
import { withStore } from './with-store.ts'

export function migrateCommand(program: Command): void {
  program
    .command('migrate')
    .description(
      'migrate the database to this version, and create a missing SQLite file; every start of the service does the same',
    )
    .action((_options: object, command: Command) =>
      // Opening the store migrates it.
      withStore(
        async ({ schemaVersion }) => {
          print(command, { version: schemaVersion }, `The database is at version ${schemaVersion}.`)
        },
        { create: true },
      ),
    )
}
