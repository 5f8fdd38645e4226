import { Promptledger } from '../src/index.ts'
import { fileSpool } from '../src/spool.ts'

// A process for tests to kill: adds signals to a queue with a spool and sends them one at a time.
const [baseUrl, apiKey, promptId = '', path = '', count] = process.argv.slice(2)

const spool = fileSpool(path)
const queue = new Promptledger({ baseUrl, apiKey }).signals.queue({ spool, concurrency: 1 })
for (let number = 0; number < Number(count); number++) {
  queue.add(promptId, { value: 'positive', metadata: { number } })
  // Lets the queue start sending between two signals, as in a busy server.
  await new Promise((resolve) => setImmediate(resolve))
}
await spool.flush()
console.log('spooled')
