import { setTimeout as pause } from 'node:timers/promises'
import { Promptledger } from '../src/index.ts'
import { fileSpool } from '../src/spool.ts'

// A process for tests to kill: adds signals to a queue with a spool, and sends one request at a time.
const [baseUrl, apiKey, promptId = '', path = '', start, count] = process.argv.slice(2)

const spool = fileSpool(path)
const queue = new Promptledger({ baseUrl, apiKey }).signals.queue({ spool, concurrency: 1 })
for (let number = Number(start); number < Number(start) + Number(count); number++) {
  queue.add(promptId, { value: 'positive', metadata: { number } })
  // As in a busy server, where signals arrive while others are being sent.
  await pause(2)
}
await spool.flush()
console.log('spooled')
