#!/usr/bin/env node
import { enableCompileCache } from 'node:module'

// Must precede all other imports: caches compiled code between starts.
enableCompileCache()
// A reader such as `head` may close the pipe early.
process.stdout.on('error', (error: NodeJS.ErrnoException) => process.exit(error.code === 'EPIPE' ? 0 : 1))
const { run } = await import('./cli/program.ts')
process.exitCode = await run(process.argv)
