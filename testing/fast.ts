import { globSync } from 'node:fs'
import { divide, fastPatterns, runJobs, startsGit } from './jobs.ts'
import { globalSetup, globalTeardown } from './setup.ts'

// The daily loop: SQLite only, no git server, no browser, no simulations.

/** In `npm test` only, as all that start git: these judge long histories. */
const slow = ['change-signals', 'segment-impact', 'shifts', 'short-path']

const files = globSync(fastPatterns).filter(
  (file) => !(startsGit(file) || slow.some((name) => file.endsWith(`/http/${name}.test.ts`))),
)
process.env.TEST_ENGINES = 'sqlite'
await globalSetup()
try {
  process.exitCode = (await runJobs(divide(files), { atOnce: 3, isQuiet: true })) ? 0 : 1
} finally {
  await globalTeardown()
}
