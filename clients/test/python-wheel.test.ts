import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { cp, mkdtemp, readdir, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe } from 'node:test'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { pythonApplication, runApplication, start } from '../../packaging/first-verdict.ts'
import { buildWheel as buildPython } from '../../packaging/wheel.ts'
import { onTestEnd } from '../../testing/cleanup.ts'
import { mainScript } from '../../testing/processes.ts'
import { python, pythonTest } from './python.ts'

const run = promisify(execFile)
const root = fileURLToPath(new URL('../../', import.meta.url))

describe('The wheel of the Python client', () => {
  const forWheel = ['build', 'hatchling', 'venv', 'pip']
  pythonTest('its wheel alone leads to a verdict, from an empty environment', forWheel, async () => {
    const folder = await createFolder('promptledger-wheel-')
    const wheel = await buildWheel(folder)
    const project = await createFolder('promptledger-project-')
    const environment = join(project, 'environment')
    const inside = join(environment, 'bin/python')
    // Installing pip into it would take longer than all the rest.
    await run(python, ['-m', 'venv', '--without-pip', environment])
    const pip = (...args: string[]) => run(python, ['-m', 'pip', '--python', inside, ...args])
    await pip('install', '--quiet', '--no-index', wheel)
    await writeFile(join(project, 'application.py'), pythonApplication)
    const service = await start(project, process.execPath, [mainScript])
    onTestEnd(() => service.stop())
    const printed = await runApplication(service, project, inside, ['application.py'])
    assert.deepEqual(printed.split('\n'), ["['positive', 'negative']", 'too_little_data 0.5', 'not_found'])
    const { stdout: installed } = await pip('list', '--format=json')
    assert.deepEqual(
      JSON.parse(installed).map(({ name }: { name: string }) => name),
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
