import { appendFileSync, readFileSync } from 'node:fs'
import pg from 'pg'

// Loaded before the tests of a process (jobs.ts). Notes each statement that the product sends to PostgreSQL (distributable.ts).
const file = process.env.TEST_SENT_STATEMENTS

interface Sender {
  connectionParameters: { application_name?: string }
}

if (file !== undefined) {
  const sent = new Set<string>()
  const { query } = pg.Client.prototype
  function noting(this: pg.Client & Sender, ...args: unknown[]): unknown {
    const [config] = args as [string | { text?: string }]
    const text = typeof config === 'string' ? config : config.text
    // Tests have clients of their own, without this name.
    if (text !== undefined && this.connectionParameters.application_name === 'promptledger') sent.add(text)
    return Reflect.apply(query, this, args)
  }
  pg.Client.prototype.query = noting as typeof query
  process.on('exit', () => appendFileSync(file, [...sent].map((text) => `${JSON.stringify(text)}\n`).join('')))
}

/** Those of all processes, each once. */
export function readSentStatements(file: string): Set<string> {
  const lines = new Set(readFileSync(file, 'utf8').trimEnd().split('\n'))
  return new Set(Array.from(lines, (line) => JSON.parse(line)))
}
