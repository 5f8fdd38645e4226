import { Readable } from 'node:stream'
import { run } from '../server/src/cli/program.ts'
import type { CliCall } from './cli.ts'

// Runs one command after the other, each in a clean environment, and reports what it printed and its exit status.

const signals = ['SIGHUP', 'SIGINT', 'SIGTERM']

process.on('message', async ({ args, env, input }: CliCall) => {
  for (const name of Object.keys(process.env)) delete process.env[name]
  Object.assign(process.env, env)
  const stdin = Readable.from(input === undefined ? [] : [Buffer.from(input, 'base64')], { objectMode: false })
  Object.defineProperty(process, 'stdin', { value: stdin, configurable: true })
  const output = { stdout: '', stderr: '' }
  for (const name of ['stdout', 'stderr'] as const) {
    process[name].write = ((text: string | Uint8Array) => {
      output[name] += typeof text === 'string' ? text : Buffer.from(text).toString('utf8')
      return true
    }) as typeof process.stdout.write
  }
  const code = await run(['node', 'promptledger', ...args])
  for (const signal of signals) process.removeAllListeners(signal)
  process.send?.({ code, ...output })
})
