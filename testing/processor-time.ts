import { readFileSync, writeSync } from 'node:fs'

/** Precedes the figure that each test file prints as it exits, for `reporter.ts`. */
export const processorTimePrefix = '\0processor time '

// The unit of /proc/<pid>/stat on Linux.
const ticksPerSecond = 100

/** Processor time of this process and of the children it has waited for. Without /proc, of this process alone. */
function processorSeconds(): number {
  try {
    const fields = readFileSync('/proc/self/stat', 'utf8').split(') ')[1]?.split(' ').slice(11, 15) ?? []
    return fields.reduce((sum, ticks) => sum + Number(ticks), 0) / ticksPerSecond
  } catch {
    const { user, system } = process.cpuUsage()
    return (user + system) / 1_000_000
  }
}

// Only the processes of the test runner: what a test starts inherits no flags, and what it forks would print it too.
if (process.env.NODE_TEST_CONTEXT === 'child-v8') {
  process.once('exit', () => writeSync(1, `${processorTimePrefix}${processorSeconds()}\n`))
}
