import { globSync } from 'node:fs'
import { compileCache } from './compile-cache.ts'
import { runTogether, togetherPatterns } from './together.ts'

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

const files = globSync(togetherPatterns).filter((file) => !slow.some((name) => file.endsWith(`/http/${name}.test.ts`)))
const args = ['--test-reporter=dot', '--test-timeout=180000', '--test-global-setup=testing/setup.ts']
const env = { ...process.env, NODE_COMPILE_CACHE: compileCache, TEST_ENGINES: 'sqlite' }
const startedAt = performance.now()
const hasPassed = await runTogether(files, args, env)
const seconds = ((performance.now() - startedAt) / 1_000).toFixed(0)
process.stdout.write(`${hasPassed ? 'Passed' : 'Failed'} in ${seconds} s. npm test runs everything.\n`)
process.exitCode = hasPassed ? 0 : 1
