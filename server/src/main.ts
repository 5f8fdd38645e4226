#!/usr/bin/env node
import { enableCompileCache } from 'node:module'

// Before anything else is loaded: keeps the compiled code between starts.
enableCompileCache()
const { run } = await import('./cli/program.ts')
process.exitCode = await run(process.argv)
