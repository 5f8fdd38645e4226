import { enableCompileCache } from 'node:module'

// Must precede all other imports: caches compiled code between starts.
enableCompileCache()
// No await: the package is CommonJS.
void import('./service/worker/main.ts').then(({ runWorkerProcess }) => runWorkerProcess())
