#!/usr/bin/env node
import { enableCompileCache } from 'node:module'

// Before anything else is loaded: keeps the compiled code between starts.
enableCompileCache()
// Whoever reads our output may stop early, as head does.
process.stdout.on('error', (error: NodeJS.ErrnoException) => process.exit(error.code === 'EPIPE' ? 0 : 1))
const { run } = await import('./cli/program.ts')
process.exitCode = await run(process.argv)
