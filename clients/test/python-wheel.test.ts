import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { cp, mkdtemp, readdir, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe } from 'node:test'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { runApplication, start } from '../../packaging/first-verdict.ts'
import { packService } from '../../packaging/pack.ts'
import { onTestEnd } from '../../testing/cleanup.ts'
import { python, pythonTest } from './python.ts'

const run = promisify(execFile)
const root = fileURLToPath(new URL('../../', import.meta.url))

describe('The wheel of the Python client', () => {
  const forWheel = ['build', 'hatchling', 'venv', 'ensurepip']
  pythonTest('its wheel alone and the packed service have a verdict, from an empty folder', forWheel, async (t) => {
    const folder = await createFolder('promptledger-wheel-')
    const wheel = await buildWheel(folder)
    const tarball = await packService(join(folder, 'npm'))

    const begin = performance.now()
    const project = await createFolder('promptledger-project-')
    const environment = join(project, 'environment')
    const inside = join(environment, 'bin/python')
    await run(python, ['-m', 'venv', environment])
    await run(inside, ['-m', 'pip', 'install', '--quiet', '--no-index', wheel])
    await writeFile(join(project, 'package.json'), '{ "private": true }')
    await run('npm', ['install', '--offline', '--no-audit', '--no-fund', tarball], { cwd: project })
    await writeFile(join(project, 'application.py'), application)
    const service = await start(project, process.execPath)
    onTestEnd(() => service.stop())
    const printed = await runApplication(service, project, inside, ['application.py'])
    assert.deepEqual(printed.split('\n'), ["['positive', 'negative']", 'too_little_data 0.5', 'not_found'])
    const seconds = (performance.now() - begin) / 1_000
    t.diagnostic(`from an empty folder to the verdict: ${seconds.toFixed(1)} s`)

    const { stdout: installed } = await run(inside, ['-m', 'pip', 'list', '--format=json'])
    const names: string[] = JSON.parse(installed).map(({ name }: { name: string }) => name)
    assert.deepEqual(
      names.filter((name) => !['pip', 'setuptools'].includes(name)),
      ['promptledger'],
    )
  })
})

/** What a new user writes first, and the queue. */
const application = `
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

async function buildWheel(folder: string): Promise<string> {
  // A copy, because a build writes beside the sources.
  const sources = join(folder, 'package')
  await cp(join(root, 'clients/python'), sources, {
    recursive: true,
    filter: (path) => !path.includes('__pycache__'),
  })
  // Debian packages hatchling without a module that only editable installs need.
  const build = '-m build --wheel --no-isolation --skip-dependency-check --outdir'.split(' ')
  await run(python, [...build, folder, sources])
  const wheel = (await readdir(folder)).find((name) => name.endsWith('.whl')) ?? ''
  assert.match(wheel, /^promptledger-[\d.]+-py3-none-any\.whl$/)
  return join(folder, wheel)
}

async function createFolder(prefix: string): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), prefix))
  onTestEnd(() => rm(folder, { recursive: true, force: true }))
  return folder
}
