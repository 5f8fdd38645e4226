import { type ChildProcess, execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { promisify } from 'node:util'
import type { Tarballs } from './pack.ts'

const run = promisify(execFile)
// Only ends what hangs: a busy machine takes a multiple of what an idle one does.
const timeoutMs = 600_000

/** What a new user writes first, with the client. Prints the verdict on the change. */
export const application = `
import { Promptledger } from '@promptledger/client'

const ledger = new Promptledger()
const prompt = await ledger.prompts.create({ name: 'prompts/' + Date.now() + '.md' })
await ledger.history.record(prompt.id, {
  action: 'deployed',
  user: { name: 'Ada Lovelace', email: 'ada@example.com' },
  commit_sha: 'a1'.repeat(20),
  pr_number: null,
  pr_url: null,
  branch_name: 'main',
  created_at: new Date(Date.now() - 60_000).toISOString(),
})
await ledger.signals.create(prompt.id, { value: 'positive' })
for await (const { verdict, after } of ledger.impact.list(prompt.id)) console.log(verdict, after.rate)
`

/** The same in Python, with the queue. */
export const pythonApplication = `
from datetime import datetime, timedelta, timezone
from importlib.resources import files
from promptledger import NotFoundError, Promptledger, models

assert files("promptledger").joinpath("py.typed").is_file()
ledger = Promptledger()
prompt = ledger.prompts.create(name="prompts/größe.md")
ledger.history.record(
    prompt["id"],
    action="deployed",
    user={"name": "Ada Lovelace", "email": "ada@example.com"},
    commit_sha="a1" * 20,
    branch_name="main",
    created_at=datetime.now(timezone.utc) - timedelta(minutes=1),
)
ledger.signals.create("prompts/größe.md", value="positive")
with ledger.signals.queue(spool="votes.spool") as votes:
    votes.add("prompts/größe.md", value="negative")
print([signal["value"] for signal in ledger.signals.export(prompt["id"])])
for change in ledger.impact.list(prompt["id"]):
    print(change["verdict"], change["after"]["rate"])
try:
    ledger.prompts.get("pmt_none")
except NotFoundError as error:
    print(error.code)
`

export interface StartedService {
  address: string
  key: string
  stop(): Promise<void>
}

/** Installs the packages in an empty folder, without a registry, starts the service, and returns the first verdict. */
export async function firstVerdict(tarballs: Tarballs, folder: string): Promise<string> {
  await install(tarballs, folder)
  const service = await start(folder, 'node')
  try {
    return await runApplication(service, folder, 'node', ['application.js'])
  } finally {
    await service.stop()
  }
}

export async function install({ promptledger, client }: Tarballs, folder: string): Promise<void> {
  await writeFile(join(folder, 'package.json'), '{ "private": true, "type": "module" }')
  await writeFile(join(folder, 'application.js'), application)
  const args = ['install', '--offline', '--no-audit', '--no-fund', promptledger, client]
  await run('npm', args, { cwd: folder, env: environment(), timeout: timeoutMs })
}

/** Starts the installed service without a command, as on the first line of the README. */
export async function start(
  folder: string,
  command: string,
  args = [join(folder, 'node_modules/.bin/promptledger')],
  env = environment(),
): Promise<StartedService> {
  const service = spawn(command, args, {
    cwd: folder,
    env: { ...env, PORT: '0' },
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const stop = async () => {
    const exited = once(service, 'exit')
    if (service.kill()) await exited
  }
  try {
    return { ...(await whenStarted(service)), stop }
  } catch (error) {
    await stop()
    throw error
  }
}

export async function runApplication(
  { address, key }: StartedService,
  folder: string,
  runtime: string,
  args: string[],
): Promise<string> {
  const env = { ...environment(), PROMPTLEDGER_URL: address, PROMPTLEDGER_KEY: key }
  const { stdout } = await run(runtime, args, { cwd: folder, env, timeout: timeoutMs })
  return stdout.trim()
}

/** Nothing of the checkout: neither its settings nor its packages. */
function environment(): NodeJS.ProcessEnv {
  const { PATH, HOME } = process.env
  return { PATH, HOME }
}

/** Reads address and key where people read them. */
async function whenStarted(service: ChildProcess): Promise<{ address: string; key: string }> {
  const lines = createInterface({ input: service.stdout as NodeJS.ReadableStream })
  let address: string | undefined
  for await (const line of lines) {
    address ??= /listening on (http\S+)/.exec(line)?.[1]
    const key = /^\s+(plk_\w+)$/.exec(line)?.[1]
    if (address !== undefined && key !== undefined) return { address, key }
  }
  throw new Error('the service ended before it printed its key')
}
