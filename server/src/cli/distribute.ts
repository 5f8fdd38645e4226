import { type Command, InvalidArgumentError } from 'commander'
import { readConfig } from '../config.ts'
import { formatCount, formatNumber, print } from './output.ts'
import { withStore } from './with-store.ts'

export function distributeCommand(program: Command): void {
  program
    .command('distribute')
    .summary('distribute the signals over the workers of a Citus cluster')
    .description(
      'distribute the tables of signals by organisation over the workers of a Citus cluster, with their rows, in one transaction. Stop ' +
        'the service first. Changes nothing on a database that is distributed already. See docs/operations/citus.md',
    )
    .option('--shards <number>', 'the number of shards, which limits the number of workers', shardsArgument, 32)
    .action(async ({ shards }: { shards: number }, command: Command) => {
      const { databaseUrl } = readConfig()
      if (databaseUrl.startsWith('sqlite:')) {
        throw new Error('Only PostgreSQL with the extension citus can be distributed. DATABASE_URL is a SQLite file.')
      }
      const { distributeDatabase, requireCluster } = await import('../store/postgres/distribute.ts')
      // Before the database is migrated, so that it stays as it is without a cluster.
      await requireCluster(databaseUrl)
      // Opening the store migrates it.
      await withStore(async () => {})
      const distribution = await distributeDatabase(databaseUrl, shards)
      const { isNew, workers, rows } = distribution
      const isIgnored = command.getOptionValueSource('shards') === 'cli' && shards !== distribution.shards
      print(
        command,
        distribution,
        `${isNew ? 'Distributed' : 'Already distributed'}: ${formatCount(distribution.shards, 'shard')} on ` +
          `${formatCount(workers, 'worker')}, ${formatNumber(rows.signals ?? 0)} signals.` +
          (isIgnored ? ' The number of shards cannot be changed: --shards has no effect.' : ''),
      )
    })
}

function shardsArgument(text: string): number {
  if (!/^[1-9]\d{0,3}$/.test(text) || Number(text) > 1_024) {
    throw new InvalidArgumentError('Must be a number from 1 to 1024.')
  }
  return Number(text)
}
