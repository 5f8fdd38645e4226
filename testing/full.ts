import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { globSync } from 'node:fs'
import { globalSetup, globalTeardown } from './full-setup.ts'
import { runTogether, togetherPatterns } from './together.ts'

const together = globSync(togetherPatterns)
const others = globSync([
  '{server,client,console,examples}/test/**/*.test.ts',
  '{clients,faults,truth,packaging}/test/*.test.ts',
]).filter((file) => !together.includes(file))

const args = ['--test-timeout=300000', '--test-reporter=./testing/reporter.ts']

await globalSetup()
try {
  const hasPassed = await runTogether(together, args, process.env)
  // More than the cores of a small machine: many of these tests wait for processes.
  const alone = ['--test', '--test-concurrency=4', '--import=./testing/processor-time.ts', ...args, ...others]
  const [status] = await once(spawn(process.execPath, alone, { stdio: 'inherit' }), 'exit')
  process.exitCode = hasPassed && status === 0 ? 0 : 1
} finally {
  await globalTeardown()
}
