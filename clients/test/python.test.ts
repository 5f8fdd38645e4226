import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { python, pythonTest } from './python.ts'

const run = promisify(execFile)
const root = fileURLToPath(new URL('../../', import.meta.url))
const folder = join(root, 'clients/python')

// Slow: mypy --strict over the client, and its own tests against a service.
describe('The Python client', () => {
  test('it has the version of the other packages', async () => {
    const [, version] =
      /__version__ = "(.*)"/.exec(await readFile(join(folder, 'src/promptledger/version.py'), 'utf8')) ?? []
    assert.equal(version, JSON.parse(await readFile(join(root, 'client/package.json'), 'utf8')).version)
  })

  pythonTest('it and its tests have no errors under mypy --strict', ['mypy', 'pytest'], async () => {
    const cache = join(root, 'node_modules/.cache/mypy')
    const env = { ...process.env, MYPYPATH: `${join(folder, 'src')}:${join(folder, 'tests')}` }
    const args = ['-m', 'mypy', '--strict', '--cache-dir', cache, 'src/promptledger', 'tests']
    await run(python, args, { cwd: folder, env }).catch(({ stdout, stderr }) => assert.fail(`${stdout}${stderr}`))
  })

  pythonTest('its own tests pass against the service', ['pytest'], async () => {
    const env = { ...process.env, PROMPTLEDGER_TEST_NODE: process.execPath, PYTHONDONTWRITEBYTECODE: '1' }
    const options = { cwd: folder, env, maxBuffer: 64 * 1024 * 1024 }
    await run(python, ['-m', 'pytest', '-q'], options).catch(({ stdout, stderr }) => assert.fail(`${stdout}${stderr}`))
  })
})
