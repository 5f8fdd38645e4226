import { execFile } from 'node:child_process'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { readConfig } from '../server/src/config.ts'
import { createRepositoryService } from '../server/src/follow/repository-service.ts'
import { idleWorker } from '../server/src/follow/worker.ts'
import { createLogger } from '../server/src/service/log.ts'
import { openSyncContext } from '../server/src/service/sync-context.ts'
import { openStore } from '../server/src/store/open.ts'

// The product side, through its own CLI. Everything else in this folder reads git on its own.

const main = fileURLToPath(new URL('../server/src/main.ts', import.meta.url))
const run = promisify(execFile)
const maxOutputBytes = 256 * 1024 * 1024

/** Runs a command of the product, and returns its output. */
export type Cli = (env: NodeJS.ProcessEnv, args: string[]) => Promise<string>

export interface BackfillOptions {
  forge: string
  path: string
  similarity: number
  cli?: Cli | undefined
}

const runProcess: Cli = async (env, args) =>
  (await run(process.execPath, [main, ...args], { env, maxBuffer: maxOutputBytes })).stdout

export interface Product {
  /** Where its database and its copies of repositories are. */
  folder: string
  database: string
  repositoryId: number
  prompts: number
  entries: number
  seconds: number
}

/** Connects the clone in a new database in this folder, as a person does, and waits for the backfill. */
export async function backfill(folder: string, clone: string, options: BackfillOptions): Promise<Product> {
  const { forge, path, similarity, cli: runCommand = runProcess } = options
  const env = environment(folder)
  const cli = async (...args: string[]) => JSON.parse(await runCommand(env, [...args, '--json']))
  // An empty database, which the first command migrates. Tests have a migrated one there.
  await writeFile(join(folder, 'truth.db'), '', { flag: 'a' })
  const { id: org } = await cli('org', 'create', 'truth')
  const connect = ['--org', String(org), '--forge', forge, '--url', clone, '--path', path]
  const startedAt = performance.now()
  const connected = await cli('repo', 'connect', ...connect, '--similarity', String(similarity))
  const seconds = (performance.now() - startedAt) / 1_000
  return {
    folder,
    database: join(folder, 'truth.db'),
    repositoryId: connected.id,
    prompts: connected.prompts.length,
    entries: connected.entries,
    seconds,
  }
}

// In megabytes. With a folder, git also packs the objects on this machine, which the forge does otherwise.
const gitMemoryLimit = '2048'
const repositorySizeLimit = '20000'

function environment(folder: string): NodeJS.ProcessEnv {
  return {
    GIT_MEMORY_LIMIT: gitMemoryLimit,
    REPOSITORY_SIZE_LIMIT: repositorySizeLimit,
    ...process.env,
    DATABASE_URL: `sqlite:${join(folder, 'truth.db')}`,
    DATA_DIR: folder,
    LOG_LEVEL: 'error',
  }
}

export interface Texts {
  before: string | null
  after: string | null
  /** Why a text is null. */
  beforeState: string
  afterState: string
}

/** Reads the texts of these entries as the API returns them. */
export async function readTexts(
  folder: string,
  entries: { id: number; promptId: string }[],
): Promise<Map<number, Texts>> {
  const config = readConfig(environment(folder))
  const store = await openStore({ url: config.databaseUrl, poolSize: 1, clock: Date.now, onLostConnection: () => {} })
  try {
    const context = await openSyncContext(config, store, createLogger('error'))
    const service = createRepositoryService({ ...context, allowLocal: true }, idleWorker)
    const texts = new Map<number, Texts>()
    for (const { id, promptId } of entries) {
      const prompt = await store.prompts.findInAnyOrganisation(promptId)
      const entry = prompt === null ? null : await store.history.find(prompt, id)
      if (entry !== null) texts.set(id, await service.contents(entry))
    }
    return texts
  } finally {
    await store.close()
  }
}
