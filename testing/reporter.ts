import { readFileSync } from 'node:fs'
import { relative } from 'node:path'
import { Readable } from 'node:stream'
import { spec } from 'node:test/reporters'
import { processorTimePrefix } from './processor-time.ts'

const shownFiles = 10
/** A file that takes more says why in a comment that starts with `// Slow:`. */
const reasonNeededSeconds = 20

interface Event {
  type: string
  data: { file?: string; message?: string; skip?: string | boolean }
}

/** Node's own report, then the files that took the most processor time, and what was skipped because a tool is missing. */
// The test runner takes the default export of a reporter.
// biome-ignore lint/style/noDefaultExport: see above.
export default async function* report(events: AsyncIterable<Event>): AsyncGenerator<string> {
  const secondsOf = new Map<string, number>()
  const skipped = new Map<string, number>()
  async function* observed() {
    for await (const event of events) {
      const { file = '', message = '', skip } = event.data
      if (event.type === 'test:stdout' && message.startsWith(processorTimePrefix)) {
        secondsOf.set(file, Number(message.slice(processorTimePrefix.length)))
        continue
      }
      if (event.type === 'test:pass' && typeof skip === 'string') skipped.set(skip, (skipped.get(skip) ?? 0) + 1)
      yield event
    }
  }
  yield* Readable.from(observed()).compose(new spec())
  if (secondsOf.size > 0) yield slowest(secondsOf)
  for (const [reason, count] of skipped) yield `skipped ${count} ${count === 1 ? 'test' : 'tests'}: ${reason}\n`
}

function slowest(secondsOf: Map<string, number>): string {
  const all = [...secondsOf].sort(([, a], [, b]) => b - a)
  const total = all.reduce((sum, [, seconds]) => sum + seconds, 0)
  const rows = all.slice(0, shownFiles).map(([file, seconds]) => {
    const missing = seconds > reasonNeededSeconds && !readFileSync(file, 'utf8').includes('\n// Slow: ')
    const note = missing ? `  over ${reasonNeededSeconds} s: make it faster, or say why with "// Slow: …"` : ''
    return `${seconds.toFixed(1).padStart(6)} s  ${relative(process.cwd(), file)}${note}\n`
  })
  return `Processor time: ${total.toFixed(0)} s in ${all.length} files. The slowest:\n${rows.join('')}`
}
