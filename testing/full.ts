import { globSync } from 'node:fs'
import { globalSetup, globalTeardown } from './full-setup.ts'
import { divide, divideShared, isSlow, runJobs, sharedPatterns } from './jobs.ts'

const shared = globSync(sharedPatterns)
const pages = globSync('console/test/*.test.ts')
const others = globSync([
  '{server,client,examples}/test/**/*.test.ts',
  '{clients,faults,truth,packaging}/test/*.test.ts',
]).filter((file) => !shared.includes(file))
// The longest first, so that none is left to run alone at the end.
const ordered = [...others.filter(isSlow), ...others.filter((file) => !isSlow(file))]

await globalSetup()
try {
  // More than the cores of a small machine: many tests wait for processes.
  const jobs = [...divide(pages), ...divideShared(shared), ...ordered.map((file) => [file])]
  const hasPassed = await runJobs(jobs, { atOnce: 4 })
  process.exitCode = hasPassed ? 0 : 1
} finally {
  await globalTeardown()
}
