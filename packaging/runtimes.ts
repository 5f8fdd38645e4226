import { execFile } from 'node:child_process'
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { rolldown } from 'rolldown'
import { application, install, runApplication, type StartedService, start } from './first-verdict.ts'
import { packAll } from './pack.ts'

// `npm run runtimes` tries the packages on every runtime that they promise, each from npm.

const run = promisify(execFile)
const expected = 'too_little_data 1'
const oldestNode = 'node@22.13'
const tooOldNode = 'node@20'
const clients: Record<string, (command: string, service: StartedService) => Promise<string>> = {
  'node@18': (command, service) => runApplication(service, project, command, ['application.js']),
  'deno@2.9.5': (command, service) =>
    runApplication(service, project, command, ['run', '--allow-env', '--allow-net', 'application.js']),
  bun: (command, service) => runApplication(service, project, command, ['run', 'application.js']),
  'edge-runtime': runOnEdge,
}

const folder = await mkdtemp(join(tmpdir(), 'promptledger-runtimes-'))
const project = join(folder, 'project')
try {
  await mkdir(project)
  await install(await packAll(join(folder, 'packages')), project)
  await explainsItself()
  const service = await start(project, await runtime(oldestNode, 'node'))
  say(`promptledger on ${oldestNode}: started`)
  try {
    for (const [name, verdict] of Object.entries(clients)) {
      const [binary = name] = name.split('@')
      const printed = await verdict(await runtime(name, binary), service)
      if (printed !== expected) throw new Error(`@promptledger/client on ${name} printed ${JSON.stringify(printed)}`)
      say(`@promptledger/client on ${name}: ${printed}`)
    }
  } finally {
    await service.stop()
  }
} finally {
  await rm(folder, { recursive: true, force: true })
}

/** Installs a runtime, and returns its path. */
async function runtime(name: string, binary: string): Promise<string> {
  const own = join(folder, name)
  await mkdir(own)
  await writeFile(join(own, 'package.json'), '{ "private": true }')
  await run('npm', ['install', '--no-audit', '--no-fund', name], { cwd: own })
  return join(own, 'node_modules/.bin', binary)
}

async function explainsItself(): Promise<void> {
  const args = [join(project, 'node_modules/.bin/promptledger'), '--version']
  const { stderr } = await run(await runtime(tooOldNode, 'node'), args).catch((error) => error)
  if (!/Node\.js 22\.13 or newer is required/.test(stderr)) throw new Error(`${tooOldNode} printed ${stderr}`)
  say(`promptledger on ${tooOldNode}: ${stderr.trim()}`)
}

/** Edge runtimes have no modules and no environment, so this bundles the application with its settings. */
async function runOnEdge(command: string, { address, key }: StartedService): Promise<string> {
  const settings = JSON.stringify({ baseUrl: address, apiKey: key })
  const source = join(project, 'edge.js')
  await writeFile(source, application.replace('new Promptledger()', `new Promptledger(${settings})`))
  const build = await rolldown({ input: source, cwd: project, platform: 'browser' })
  const { output } = await build.generate({ format: 'esm' })
  await build.close()
  const script = join(project, 'edge.bundle.js')
  await writeFile(script, `(async () => {\n${output[0].code.replace(/^export .*$/m, '')}\n})()`)
  const { stdout } = await run(command, [script])
  return stdout.trim()
}

function say(text: string): void {
  process.stdout.write(`${text}\n`)
}
