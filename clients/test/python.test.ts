import assert from 'node:assert/strict'
import { execFile, spawnSync } from 'node:child_process'
import { cp, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, type TestContext, test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { runApplication, start } from '../../packaging/first-verdict.ts'
import { packService } from '../../packaging/pack.ts'
import { generatePythonTypes } from '../../scripts/write-python-types.ts'
import { onTestEnd } from '../../testing/cleanup.ts'
import { skipReason } from '../../testing/installed-tools.ts'

const run = promisify(execFile)
const root = fileURLToPath(new URL('../../', import.meta.url))
const folder = join(root, 'clients/python')
// The longest test takes 2 min on an idle machine. This only ends one that hangs.
const timeoutMs = 1_800_000
const modules = ['pytest', 'mypy', 'build', 'hatchling', 'venv', 'ensurepip']
const debianPackages = 'python3-pytest mypy python3-build python3-hatchling python3-venv'

/** The interpreter that has most of what the tests need, and what it lacks. A shell may put another one before the system's. */
function findPython(): { python: string; missing: string[] } {
  const script = `import importlib.util as u; print(*(m for m in ${JSON.stringify(modules)} if u.find_spec(m) is None))`
  const found = [process.env.PYTHON, 'python3', '/usr/bin/python3'].flatMap((python) => {
    if (python === undefined) return []
    const { status, stdout } = spawnSync(python, ['-c', script], { encoding: 'utf8' })
    return status === 0 ? [{ python, missing: stdout.split(/\s+/).filter((name) => name !== '') }] : []
  })
  return (
    found.sort((a, b) => a.missing.length - b.missing.length)[0] ?? { python: '', missing: ['python3', ...modules] }
  )
}

const { python, missing } = findPython()

/** A test that needs these modules. Without them it is skipped. */
function pythonTest(name: string, modules: string[], body: (t: TestContext) => Promise<void>): void {
  const lacking = python === '' ? ['python3'] : modules.filter((module) => missing.includes(module))
  const skip = lacking.length > 0 && skipReason(lacking.join(', '), debianPackages)
  test(name, { skip, timeout: timeoutMs }, body)
}

describe('The Python client', () => {
  test('its models match the OpenAPI document', async () => {
    const models = await readFile(join(folder, 'src/promptledger/models.py'), 'utf8')
    assert.equal(models, generatePythonTypes(), 'models.py is out of date: run npm run python-types')
  })

  test('it has the version of the other packages', async () => {
    const [, version] =
      /__version__ = "(.*)"/.exec(await readFile(join(folder, 'src/promptledger/version.py'), 'utf8')) ?? []
    assert.equal(version, JSON.parse(await readFile(join(root, 'client/package.json'), 'utf8')).version)
  })

  pythonTest('it and its tests have no errors under mypy --strict', ['mypy', 'pytest'], async () => {
    const cache = await createFolder('promptledger-mypy-')
    const env = { ...process.env, MYPYPATH: `${join(folder, 'src')}:${join(folder, 'tests')}` }
    for (const files of [['src/promptledger'], ['tests']]) {
      const args = ['-m', 'mypy', '--strict', '--cache-dir', cache, ...files]
      await run(python, args, { cwd: folder, env }).catch(({ stdout, stderr }) => assert.fail(`${stdout}${stderr}`))
    }
  })

  pythonTest('its own tests pass against the service, on both engines', ['pytest'], async () => {
    const env = { ...process.env, PROMPTLEDGER_TEST_NODE: process.execPath, PYTHONDONTWRITEBYTECODE: '1' }
    const options = { cwd: folder, env, maxBuffer: 64 * 1024 * 1024 }
    await run(python, ['-m', 'pytest', '-q'], options).catch(({ stdout, stderr }) => assert.fail(`${stdout}${stderr}`))
  })

  const forWheel = ['build', 'hatchling', 'venv', 'ensurepip']
  pythonTest('its wheel alone and the packed service have a verdict within 60 s', forWheel, async (t) => {
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
    // What is promised. A busy machine takes about a quarter of it.
    assert.ok(seconds < 60, `it took ${seconds.toFixed(1)} s`)

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
