#!/usr/bin/env node
import { enableCompileCache } from 'node:module'

const parentPollMs = 500

// Must precede all other imports: caches compiled code between starts.
enableCompileCache()
// A reader such as `head` may close the pipe early.
process.stdout.on('error', (error: NodeJS.ErrnoException) => process.exit(error.code === 'EPIPE' ? 0 : 1))
stopWithNpm()
// No await: the package is CommonJS.
void import('./cli/program.ts').then(async ({ run }) => {
  process.exitCode = await run(process.argv)
})

/** npm runs a command in a shell that does not pass SIGTERM on: npm and the shell end, and the service would run on without them. */
function stopWithNpm(): void {
  // biome-ignore lint/style/noProcessEnv: no setting: it says whether npm started this process.
  if (process.env.npm_lifecycle_event === undefined) return
  const parent = process.ppid
  const timer = setInterval(() => {
    if (process.ppid === parent) return
    clearInterval(timer)
    process.kill(process.pid, 'SIGTERM')
  }, parentPollMs)
  timer.unref()
}
