import { readFileSync } from 'node:fs'
import { Readable } from 'node:stream'
import { spec } from 'node:test/reporters'

/** Precedes the outcome that a test process prints last, for `jobs.ts`. */
export const outcomePrefix = '\0outcome '

/** What a process with test files tells the one that started it. */
export interface Outcome {
  passed: number
  failed: number
  /** How many tests were skipped for which reason. */
  skipped: Record<string, number>
  /** Processor time of each file. */
  seconds: Record<string, number>
}

export function noTests(): Outcome {
  return { passed: 0, failed: 0, skipped: {}, seconds: {} }
}

interface Event {
  type: string
  data: { file?: string; nesting?: number; skip?: string | boolean; details?: { type?: string } }
}

/** Node's own report without its totals, then the outcome. */
// The test runner takes the default export of a reporter.
// biome-ignore lint/style/noDefaultExport: see above.
export default async function* report(events: AsyncIterable<Event>): AsyncGenerator<string> {
  const outcome = noTests()
  let countedSeconds = 0
  let lastFile = ''
  async function* observed() {
    for await (const event of events) {
      const { file, nesting, skip, details } = event.data
      if (event.type === 'test:complete') {
        // The files of a process run one after another. A suite may be declared by a function in another file, its tests are not.
        if (file?.endsWith('.test.ts')) lastFile = file
        if (nesting === 0) {
          const seconds = processorSeconds()
          const name = lastFile || (file ?? '')
          outcome.seconds[name] = (outcome.seconds[name] ?? 0) + seconds - countedSeconds
          countedSeconds = seconds
        }
      }
      if (event.type === 'test:diagnostic' && nesting === 0 && file === undefined) continue
      if (details?.type !== 'suite') {
        if (event.type === 'test:fail') outcome.failed++
        else if (event.type === 'test:pass' && skip === undefined) outcome.passed++
        else if (event.type === 'test:pass') outcome.skipped[String(skip)] = (outcome.skipped[String(skip)] ?? 0) + 1
      }
      yield event
    }
  }
  yield* Readable.from(observed()).compose(new spec())
  yield `${outcomePrefix}${JSON.stringify(outcome)}\n`
}

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
