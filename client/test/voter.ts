import { Promptledger } from '../src/index.ts'
import { fileSpool } from '../src/spool.ts'

// A process for tests to kill: it takes votes and sends them, one at a time.
const [baseUrl, apiKey, promptId = '', path = '', count] = process.argv.slice(2)

const spool = fileSpool(path)
const queue = new Promptledger({ baseUrl, apiKey }).signals.queue({ spool, concurrency: 1 })
for (let number = 0; number < Number(count); number++) {
  queue.add(promptId, { value: 'positive', metadata: { number } })
  // A service would do something else in between.
  await new Promise((resolve) => setImmediate(resolve))
}
await spool.written()
console.log('kept')
