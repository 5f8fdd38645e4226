import type { CitusCluster } from './citus.ts'
import { startTemplateCluster } from './distributed-cluster.ts'

let cluster: CitusCluster | null = null

/** Starts one cluster for the whole run of `npm run test:citus`. */
export async function globalSetup(): Promise<void> {
  // Commits have to survive the tests, not a power failure.
  cluster = await startTemplateCluster(['-c', 'fsync=off', '-c', 'synchronous_commit=off'])
}

export async function globalTeardown(): Promise<void> {
  await cluster?.stop()
}
