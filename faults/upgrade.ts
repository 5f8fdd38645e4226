import { execFile } from 'node:child_process'
import { existsSync } from 'node:fs'
import { cp, mkdir, mkdtemp, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises'
import { Agent } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseArgs, promisify } from 'node:util'
import { application, install, pythonApplication, runApplication } from '../packaging/first-verdict.ts'
import { packAll } from '../packaging/pack.ts'
import { packCommit } from '../packaging/release-files.ts'
import type { Account } from '../testing/account.ts'
import { type Engine, postgres, sqlite } from '../testing/engines.ts'
import { startPostgres } from '../testing/postgres.ts'
import { type RunningProcess, spawnNode, startProcess } from '../testing/processes.ts'
import { startTcpProxy } from '../testing/tcp-proxy.ts'
import { send } from './http.ts'
import { reconcile } from './reconcile.ts'
import { startSenders } from './senders.ts'

const usage = `Upgrades earlier releases with data and under load, on both engines, and goes back: docs/compatibility.md says what is promised.

npm run test:upgrade                     from the first release, and from the last one
npm run test:upgrade -- --from 9c6cdca   from this commit; can be repeated
`

const exec = promisify(execFile)
const root = fileURLToPath(new URL('../', import.meta.url))
const firstRelease = '9c6cdca'
const beforeTags = '49ae9a4e'
const senders = 8
const readers = 4

/** An installed version. */
interface Release {
  name: string
  /** Where its npm packages are installed. */
  folder: string
  /** The sources of its Python client. */
  python: string
}

// The exit handlers stop every process that was started.
for (const signal of ['SIGINT', 'SIGTERM']) process.once(signal, () => process.exit(1))

const { values: options } = parseArgs({
  options: { help: { type: 'boolean' }, from: { type: 'string', multiple: true } },
})
if (options.help) process.stdout.write(usage)
else await main()

async function main(): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), 'promptledger-upgrade-'))
  const server = process.env.TEST_DATABASE_URL === undefined ? await startPostgres() : null
  process.env.TEST_DATABASE_URL ??= server?.url
  try {
    const next = await installed('this version', folder, await packAll(join(folder, 'packages')), root)
    for (const commit of options.from ?? (await releases())) {
      const previous = await releaseAt(commit)
      for (const engine of [sqlite, postgres]) {
        const results = await upgrade(previous, next, engine, await mkdtemp(join(folder, 'run-')))
        console.log(`\n${previous.name} to ${next.name}, ${engine.name}`)
        console.table(results)
      }
    }
  } finally {
    await server?.stop()
    await rm(folder, { recursive: true, force: true })
  }
  process.exit()
}

/** The first release and the last tag. Until there is a tag, a commit with fewer migrations that builds: not each of them does. */
async function releases(): Promise<string[]> {
  const tag = exec('git', ['describe', '--tags', '--match', 'v*', '--abbrev=0'], { cwd: root })
  return [firstRelease, await tag.then(({ stdout }) => stdout.trim()).catch(() => beforeTags)]
}

/** Builds and installs a commit once: it is the same the next time. */
async function releaseAt(commit: string): Promise<Release> {
  const folder = join(root, 'dist/installed', commit)
  if (!existsSync(folder)) {
    console.log(`Building ${commit}`)
    const work = await mkdtemp(join(tmpdir(), 'promptledger-commit-'))
    const clone = join(work, 'clone')
    const tarballs = await packCommit({ repository: root, commit }, clone, join(work, 'packages'))
    await installed(commit, work, tarballs, clone)
    await mkdir(join(root, 'dist/installed'), { recursive: true })
    await cp(join(clone, 'clients/python/src'), join(work, commit, 'python'), { recursive: true })
    await rename(join(work, commit), folder).catch(() => cp(join(work, commit), folder, { recursive: true }))
    await rm(work, { recursive: true, force: true })
  }
  return { name: commit, folder, python: join(folder, 'python') }
}

async function installed(
  name: string,
  folder: string,
  tarballs: { promptledger: string; client: string },
  checkout: string,
): Promise<Release> {
  const project = join(folder, name)
  await mkdir(project)
  await install(tarballs, project)
  return { name, folder: project, python: join(checkout, 'clients/python/src') }
}

async function upgrade(previous: Release, next: Release, engine: Engine, folder: string): Promise<object> {
  const database = await engine.createEmpty()
  const { url } = database
  const backup = join(folder, 'before.gz')
  const demo = await fillWithDemo(previous, url, folder)
  const env = { ...demo.env, DATA_DIR: folder }
  const start = (release: Release, at = url) =>
    startProcess(scriptOf(release), ['serve', '--port', '0', '--json'], {
      env: { ...env, DATABASE_URL: at, PROMPTLEDGER_FIRST_RUN: 'off', LOG_LEVEL: 'error' },
    })
  const accounts = [await createAccount(previous, url), await createAccount(previous, url)]
  const ofClients = await createAccount(previous, url)

  let services = [await start(previous)]
  if (engine === postgres) services.push(await start(previous))
  const proxy = await startTcpProxy(() => services.map(({ port }) => port))
  const before = await contents(proxy.port, demo)
  await cli(previous, url, env, ['backup', backup])
  const load = startSenders(() => proxy.port, accounts, senders)
  const reads = startReaders(() => proxy.port, accounts[0] as Account)
  const oldClients = await tryClients(next, services[0] as RunningProcess, ofClients)

  const startedAt = performance.now()
  if (engine === postgres) {
    // The first one migrates while the others work.
    const others = services
    services = [...others, await start(next)]
    for (const old of others) {
      services = services.filter((service) => service !== old)
      await old.stop()
      services.push(await start(next))
    }
  } else {
    await services[0]?.stop()
    services = [await start(next)]
  }
  const upgradeMs = Math.round(performance.now() - startedAt)

  const newClients = await tryClients(previous, services[0] as RunningProcess, ofClients)
  await reads.stop()
  await load.stop()
  const [{ port }] = services as [RunningProcess]
  const changed = differences(before, await contents(port, demo))
  const counts = await reconcile(port, accounts, load)
  await proxy.close()
  for (const service of services) await service.stop()
  await cli(next, url, env, ['doctor'])
  const back = await goBack(previous, next, { backup, env, before, demo, engine, start })
  await demo.stop()
  await database.remove()
  return {
    'upgrade, ms': upgradeMs,
    signals: counts.stored,
    'failed requests': load.failed() + reads.failed(),
    'lost or duplicated': 0,
    reads: reads.done(),
    'changed contents': changed.join(', ') || 'none',
    'clients of this version, old server': oldClients,
    'old clients, this version': newClients,
    ...back,
  }
}

/** Going back: with the same migrations the older version starts. Otherwise it refuses, and its backup restores what was. */
async function goBack(previous: Release, next: Release, run: Run): Promise<object> {
  const { backup, env, before, demo, engine, start } = run
  const check = async (service: RunningProcess, what: string) => {
    const changed = differences(before, await contents(service.port, demo))
    await service.stop()
    if (changed.length > 0) throw new Error(`${what}: ${changed.join(', ')} changed`)
  }
  const older = await start(previous).catch((error) => {
    if (!/supports only up to version/.test(String(error))) throw error
    return null
  })
  if (older !== null) await check(older, 'the older version')
  else await check(await start(next), 'after the older version refused to start')
  const database = await engine.createEmpty()
  await cli(previous, database.url, env, ['restore', backup])
  for (const release of [previous, next]) {
    await check(
      await start(release, database.url),
      `the backup, restored by the older version and read by ${release.name}`,
    )
  }
  await database.remove()
  return {
    'older version after the upgrade': older === null ? 'refuses to start, database untouched' : 'same contents',
    'its backup, restored by it and upgraded': 'same contents',
  }
}

interface Run {
  backup: string
  env: NodeJS.ProcessEnv
  before: Contents
  demo: DemoData
  engine: Engine
  start(release: Release, url?: string): Promise<RunningProcess>
}

interface DemoData {
  key: string
  prompts: string[]
  /** What a service on its data needs. */
  env: NodeJS.ProcessEnv
  /** Deletes its repository. */
  stop(): Promise<unknown>
}

/** A year of changes and signals in four prompts, and a repository: what the demo of the release shows. */
async function fillWithDemo(release: Release, url: string, folder: string): Promise<DemoData> {
  const archive = join(folder, 'demo.gz')
  const demo = await startProcess(scriptOf(release), ['demo', '--port', '0', '--json'], { env: { TMPDIR: folder } })
  const { key, prompts } = JSON.parse(demo.output().stdout) as { key: string; prompts: { id: string }[] }
  const [place = ''] = (await readdir(folder)).filter((name) => name.startsWith('promptledger-demo-'))
  const data = join(folder, place)
  const secretKey = (await readFile(join(data, 'secret.key'), 'utf8')).trim()
  const env = { PROMPTLEDGER_SECRET_KEY: secretKey, ALLOW: 'local-repositories' }
  await cli(release, `sqlite:${join(data, 'promptledger.db')}`, env, ['backup', archive])
  await cli(release, url, env, ['restore', archive])
  return { key, prompts: prompts.map(({ id }) => id), env, stop: () => demo.stop() }
}

/** What a reader of the contract sees: by path, the response. */
type Contents = Map<string, string>

async function contents(port: number, { key, prompts }: DemoData): Promise<Contents> {
  const agent = new Agent()
  const paths = [
    'usage',
    ...prompts.flatMap((id) => [`prompts/${id}/history?limit=100`, `prompts/${id}/signals?limit=5`]),
  ]
  const found: Contents = new Map()
  for (const path of paths) {
    const { status, body } = await send(agent, port, { path: `/api/v1/${path}`, key })
    if (status !== 200) throw new Error(`${path} was answered with ${status}: ${body}`)
    found.set(path, body)
  }
  return found
}

/** The paths whose response lacks something, or has another value. Fields may be added. */
function differences(before: Contents, after: Contents): string[] {
  return [...before].flatMap(([path, body]) => {
    const isKept = contains(JSON.parse(after.get(path) ?? 'null'), JSON.parse(body))
    return isKept ? [] : [path]
  })
}

function contains(value: unknown, part: unknown): boolean {
  if (typeof part !== 'object' || part === null) return value === part
  if (typeof value !== 'object' || value === null) return false
  return Object.entries(part).every(([name, each]) => contains((value as Record<string, unknown>)[name], each))
}

/** By the commands of the release: ours would migrate the database first. */
async function createAccount(release: Release, url: string): Promise<Account> {
  const create = async <T>(...args: string[]): Promise<T> =>
    JSON.parse(await cli(release, url, {}, [...args, '--json']))
  const org = await create<{ id: number }>('org', 'create', 'Acme', '--plan', 'business')
  const of = ['--org', String(org.id)]
  const { key } = await create<{ key: string }>('key', 'create', ...of, '--role', 'admin')
  const prompt = await create<{ id: string }>('prompt', 'create', ...of, '--name', 'support')
  return { organisationId: org.id, limit: 100_000, key, promptId: prompt.id }
}

/** What new users write first, in JavaScript and Python, with the clients of one release and the service of another. */
async function tryClients(clients: Release, { address }: RunningProcess, { key }: Account): Promise<string> {
  const service = { address, key, stop: async () => {} }
  await writeFile(join(clients.folder, 'application.js'), application)
  await writeFile(join(clients.folder, 'application.py'), pythonApplication.replaceAll('größe', `${Date.now()}`))
  const javascript = await runApplication(service, clients.folder, process.execPath, ['application.js'])
  const script = `import sys; sys.path.insert(0, ${JSON.stringify(clients.python)}); exec(open('application.py').read())`
  const python = await runApplication(service, clients.folder, 'python3', ['-c', script])
  for (const printed of [javascript, python]) {
    if (!/^too_little_data /m.test(printed)) throw new Error(`the clients of ${clients.name} printed ${printed}`)
  }
  return 'work'
}

function startReaders(port: () => number, { key, promptId }: Account) {
  const agent = new Agent({ keepAlive: true, maxSockets: readers })
  let [done, failed, stopped] = [0, 0, false]
  const work = Array.from({ length: readers }, async () => {
    while (!stopped) {
      const response = await send(agent, port(), { path: `/api/v1/prompts/${promptId}/history`, key }).catch(() => null)
      if (response?.status === 200) done++
      else failed++
    }
  })
  return {
    done: () => done,
    failed: () => failed,
    async stop() {
      stopped = true
      await Promise.all(work)
      agent.destroy()
    },
  }
}

function scriptOf({ folder }: Release): string {
  return join(folder, 'node_modules/promptledger/dist/bin.js')
}

async function cli(release: Release, url: string, env: NodeJS.ProcessEnv, args: string[]): Promise<string> {
  const command = [scriptOf(release), ...args]
  const { child, output, exited } = spawnNode(command, { env: { ...env, DATABASE_URL: url } })
  child.stdin?.end()
  const code = await exited
  if (code !== 0)
    throw new Error(
      `${release.name}: promptledger ${args.join(' ')} ended with ${code}: ${output.stdout}${output.stderr}`,
    )
  return output.stdout
}
