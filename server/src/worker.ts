import { enableCompileCache } from 'node:module'

// Must precede all other imports: caches compiled code between starts.
enableCompileCache()
const { runWorkerProcess } = await import('./service/worker/main.ts')
runWorkerProcess()
