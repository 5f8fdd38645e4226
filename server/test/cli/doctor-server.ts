import { after, before } from 'node:test'
import { startTemplateCluster } from '../../../testing/distributed-cluster.ts'
import { createOn, isCitus } from '../../../testing/engines.ts'
import { startPostgres } from '../../../testing/postgres.ts'

// A server of its own: the one that other tests share runs with fsync off, which the doctor reports.
let stop: () => Promise<void>
before(async () => {
  if (isCitus) {
    stop = (await startTemplateCluster()).stop
    return
  }
  const server = await startPostgres()
  createOn(server)
  stop = server.stop
})
after(() => stop())
