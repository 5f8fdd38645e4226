import { globSync, readFileSync } from 'node:fs'
import { openPostgres } from '../server/src/doctor/postgres.ts'
import { checkRecording } from '../server/src/doctor/recording.ts'
import { createAccount } from './account.ts'
import { cloneCitusDatabase } from './citus.ts'
import { compileCache } from './compile-cache.ts'
import { startTemplateCluster } from './distributed-cluster.ts'
import { citusTemplate } from './engines.ts'
import { divideShared, runJobs } from './jobs.ts'

/** Each starts and stops servers of a cluster of its own. */
const own = globSync('server/test/citus/*.citus.ts')

/** What uses signals in a database. */
const files = globSync([
  'server/test/{store,http,mcp}/*.test.ts',
  'server/test/cli/{archive,audit,backup,doctor,import,import-rules,secret-key-rotation,signing-key}.test.ts',
  'server/test/process/{crash,judge,replicas}.test.ts',
  'server/test/following/deployments.test.ts',
  'faults/test/*.test.ts',
])
// What one server does: its statements and functions are counted, or a part that Citus does not use is broken.
const ofOneServer = /\/(budgets|unknown-outcome|neighbours)\.test\.ts$/
const shared = files.filter((file) => {
  const usesDatabase = /\bpostgres\b|on(EachEngine|OneEngine|Postgres)\b/.test(readFileSync(file, 'utf8'))
  return usesDatabase && !ofOneServer.test(file)
})
// Files named on the command line run alone.
const chosen = process.argv.slice(2)

// Commits have to survive the tests, not a power failure.
process.env.NODE_COMPILE_CACHE ??= compileCache
const cluster = await startTemplateCluster(['-c', 'fsync=off', '-c', 'synchronous_commit=off'])
try {
  await assertRecords(cluster.servers.map(({ url }) => url))
  const jobs = chosen.length > 0 ? [chosen] : [...own.map((file) => [file]), ...divideShared(shared)]
  process.exitCode = (await runJobs(jobs, { atOnce: 3, isQuiet: true })) ? 0 : 1
} finally {
  await cluster.stop()
}

/** If nothing can be recorded, hundreds of tests fail, many of them after minutes of waiting. */
async function assertRecords(urls: string[]): Promise<void> {
  const url = await cloneCitusDatabase(urls, citusTemplate, 'first_signal')
  await createAccount(url, 'business')
  const database = await openPostgres(url, 2, Date.now)
  const { status, message } = await checkRecording(database, Date.now)
  await database.close()
  if (status !== 'ok') throw new Error(`Not one test was run: ${message}`)
}
