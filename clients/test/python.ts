import { spawnSync } from 'node:child_process'
import { type TestContext, test } from 'node:test'
import { skipReason } from '../../testing/installed-tools.ts'

// The longest test takes a minute on an idle machine. This only ends one that hangs.
const timeoutMs = 1_800_000
const modules = ['pytest', 'mypy', 'build', 'hatchling', 'venv', 'pip']
const debianPackages = 'python3-pytest mypy python3-build python3-hatchling python3-pip'

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

export const { python, missing } = findPython()

/** A test that needs these modules. Without them it is skipped. */
export function pythonTest(name: string, modules: string[], body: (t: TestContext) => Promise<void>): void {
  const lacking = python === '' ? ['python3'] : modules.filter((module) => missing.includes(module))
  const skip = lacking.length > 0 && skipReason(lacking.join(', '), debianPackages)
  test(name, { skip, timeout: timeoutMs }, body)
}
