import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { globSync, statSync } from 'node:fs'
import { compileCache } from './compile-cache.ts'

// The daily loop: SQLite only, no git server, no browser, no simulations. Loading our modules takes longer than most of these test
// files, so each of two processes loads them once and runs its files in turn.

const processes = 2
const patterns = [
  'server/test/{domain,store,http,forges,project}/*.test.ts',
  'client/test/{errors,pages,resources,types}.test.ts',
]

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
  'shifts',
  'webhook-bodies',
  'webhooks',
]

const args = ['--test', '--test-isolation=none', '--test-reporter=dot', '--test-timeout=180000']
const env = { ...process.env, NODE_COMPILE_CACHE: compileCache, TEST_ENGINES: 'sqlite' }

/** The files of each process, with about the same amount of code. */
function divide(): string[][] {
  const files = globSync(patterns).filter((file) => !slow.some((name) => file.endsWith(`/http/${name}.test.ts`)))
  const shares = Array.from({ length: processes }, () => ({ bytes: 0, files: [] as string[] }))
  for (const { file, size } of files
    .map((file) => ({ file, size: statSync(file).size }))
    .sort((a, b) => b.size - a.size)) {
    const [share] = shares.sort((a, b) => a.bytes - b.bytes)
    share?.files.push(file)
    if (share !== undefined) share.bytes += size
  }
  return shares.map((share) => share.files)
}

const startedAt = performance.now()
const statuses = await Promise.all(
  divide().map(async (files) => {
    const all = [...args, '--test-global-setup=testing/setup.ts', ...files]
    const [status] = await once(spawn(process.execPath, all, { env, stdio: 'inherit' }), 'exit')
    return status
  }),
)
const failed = statuses.some((status) => status !== 0)
const seconds = ((performance.now() - startedAt) / 1_000).toFixed(0)
process.stdout.write(`${failed ? 'Failed' : 'Passed'} in ${seconds} s. npm test runs everything.\n`)
process.exitCode = failed ? 1 : 0
