import { distributeDatabase } from '../server/src/store/postgres/distribute.ts'
import { type CitusCluster, createCitusDatabase, freezeDatabase, startCitus } from './citus.ts'
import { citusTemplate, migrateDatabase } from './engines.ts'

// Few shards, so that the many databases of the tests are created quickly.
const templateShards = 4

export interface DistributedCluster extends CitusCluster {
  /** The database, on the coordinator. */
  url: string
}

/** Starts a cluster with a distributed database. */
export async function startDistributed(shards = 8, settings: string[] = []): Promise<DistributedCluster> {
  return startWithDatabase('ledger', shards, settings)
}

/** Starts a cluster whose test databases are copies of one that is distributed, and makes it the one for new test databases. */
export async function startTemplateCluster(settings: string[] = []): Promise<CitusCluster> {
  const cluster = await startWithDatabase(citusTemplate, templateShards, settings)
  const urls = cluster.servers.map(({ url }) => url)
  await freezeDatabase(urls, citusTemplate)
  process.env.TEST_DATABASE_URL = urls[0]
  process.env.TEST_CITUS_URLS = urls.join(' ')
  return cluster
}

async function startWithDatabase(name: string, shards: number, settings: string[]): Promise<DistributedCluster> {
  const cluster = await startCitus(2, settings)
  const url = await createCitusDatabase(
    cluster.servers.map((server) => server.url),
    name,
  )
  await migrateDatabase(url)
  await distributeDatabase(url, shards)
  return { ...cluster, url }
}
