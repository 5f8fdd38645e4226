import { globSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { findUndistributable } from './distributable.ts'
import { globalSetup, globalTeardown } from './full-setup.ts'
import { divide, divideShared, isSlow, runJobs, sharedPatterns } from './jobs.ts'
import { readSentStatements } from './sent-statements.ts'

const shared = globSync(sharedPatterns)
const pages = globSync('console/test/*.test.ts')
const others = globSync([
  '{server,client,examples}/test/**/*.test.ts',
  '{clients,faults,truth,packaging}/test/*.test.ts',
]).filter((file) => !shared.includes(file))
await globalSetup()
try {
  // The longest first, and single files last, so that none is left to run alone at the end.
  const { slow = [], quick = [] } = Object.groupBy(others, (file) => (isSlow(file) ? 'slow' : 'quick'))
  const singles = (files: string[]) => files.map((file) => [file])
  const jobs = [...divide(pages), ...singles(slow), ...divideShared(shared), ...singles(quick)]
  // More than the cores of a small machine: many tests wait for processes.
  const sent = join(tmpdir(), `sent-statements-${process.pid}`)
  process.env.TEST_SENT_STATEMENTS = sent
  const hasPassed = await runJobs(jobs, { atOnce: 4 })
  const problems = await findUndistributable(readSentStatements(sent))
  for (const problem of problems)
    process.stdout.write(`✖ Citus would not run this on the worker of an organisation: ${problem}\n`)
  rmSync(sent, { force: true })
  process.exitCode = hasPassed && problems.length === 0 ? 0 : 1
} finally {
  await globalTeardown()
}
