import { globSync } from 'node:fs'
import { divide, runJobs, sharedPatterns } from './jobs.ts'
import { globalSetup, globalTeardown } from './setup.ts'

// The daily loop: SQLite only, no git server, no browser, no simulations.

/** In `npm test` only: these start git again and again, or judge long histories. */
const slow = [
  'access',
  'audit',
  'change-signals',
  'entries',
  'entry-reads',
  'hidden-characters',
  'key-scope',
  'openapi',
  'regressions',
  'repositories',
  'segment-impact',
  'shares',
  'shifts',
  'short-path',
  'text-search',
  'webhook-bodies',
  'webhooks',
]

const files = globSync(sharedPatterns).filter((file) => !slow.some((name) => file.endsWith(`/http/${name}.test.ts`)))
process.env.TEST_ENGINES = 'sqlite'
await globalSetup()
try {
  process.exitCode = (await runJobs(divide(files), { atOnce: 3, isQuiet: true })) ? 0 : 1
} finally {
  await globalTeardown()
}
