import { execFile } from 'node:child_process'

// One thread each, because two steps run at a time: several threads of the compiler check the same types again.
const compile = (...args: string[]) => ['tsc', '--singleThreaded', ...args]

/** The longest first. */
const steps = [
  ['biome', 'check', '--error-on-warnings', '.'],
  compile(),
  compile('-p', 'tsconfig.tests.json'),
  compile('-p', 'console'),
  compile('-p', 'client'),
  compile('-p', 'server/src/http/docs/browser'),
  ['node', 'scripts/check-wording.ts'],
  ['node', 'scripts/check-imports.ts'],
]

const atATime = 2

/** Runs steps until there are none left. Each prints what it found at its end, so that two never print at once. */
async function work(): Promise<void> {
  for (let step = steps.shift(); step !== undefined; step = steps.shift()) {
    const [command = '', ...args] = step
    await new Promise<void>((resolve) => {
      execFile(command, args, { maxBuffer: 64 * 1024 * 1024 }, (error, stdout, stderr) => {
        if (error !== null) {
          process.exitCode = 1
          process.stdout.write(`${command} ${args.join(' ')}\n${stdout}${stderr}\n`)
        }
        resolve()
      })
    })
  }
}

await Promise.all(Array.from({ length: atATime }, work))
