import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { cp, mkdtemp, readdir, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe } from 'node:test'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { pythonApplication, runApplication, start } from '../../packaging/first-verdict.ts'
import { packService } from '../../packaging/pack.ts'
import { buildWheel as buildPython } from '../../packaging/wheel.ts'
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
    await writeFile(join(project, 'application.py'), pythonApplication)
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

async function buildWheel(folder: string): Promise<string> {
  // A copy, because a build writes beside the sources.
  const sources = join(folder, 'package')
  await cp(join(root, 'clients/python'), sources, {
    recursive: true,
    filter: (path) => !path.includes('__pycache__'),
  })
  await buildPython(python, sources, folder)
  const wheel = (await readdir(folder)).find((name) => name.endsWith('.whl')) ?? ''
  assert.match(wheel, /^promptledger-[\d.]+-py3-none-any\.whl$/)
  return join(folder, wheel)
}

async function createFolder(prefix: string): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), prefix))
  onTestEnd(() => rm(folder, { recursive: true, force: true }))
  return folder
}
