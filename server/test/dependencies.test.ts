import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { fileURLToPath } from 'node:url'

interface Package {
  license?: string
  dependencies?: Record<string, string>
  devDependencies?: Record<string, string>
}

interface Lock {
  packages: Record<string, Package>
}

const script = fileURLToPath(new URL('../check-dependencies.ts', import.meta.url))
const root = new URL('../../', import.meta.url)
const lock = (): Lock => JSON.parse(readFileSync(new URL('package-lock.json', root), 'utf8'))

let folder: string
before(async () => {
  folder = await mkdtemp(join(tmpdir(), 'promptledger-dependencies-'))
})
after(() => rm(folder, { recursive: true }))

/** Runs the check on a lock file and gives its exit status and what it complains of. */
async function check(changed: Lock): Promise<{ code: number; stderr: string }> {
  const file = join(folder, 'package-lock.json')
  await writeFile(file, JSON.stringify(changed))
  return new Promise((resolve) => {
    execFile(process.execPath, [script, file], (error, _stdout, stderr) => {
      resolve({ code: error === null ? 0 : Number(error.code), stderr })
    })
  })
}

test('What is installed is permitted', async () => {
  assert.deepEqual(await check(lock()), { code: 0, stderr: '' })
})

for (const [path, group, licence, complaint] of [
  ['node_modules/pg-types', 'production', 'GPL-3.0-only', 'GPL-3.0-only'],
  ['node_modules/pg-types', 'production', 'MPL-2.0', 'MPL-2.0'],
  ['node_modules/pg-types', 'production', '(MIT AND GPL-2.0)', '(MIT AND GPL-2.0)'],
  ['node_modules/pg-types', 'production', undefined, 'of which it says nothing'],
  ['node_modules/scheduler', 'console', 'MPL-2.0', 'MPL-2.0'],
  ['node_modules/typescript', 'development', 'SEE LICENSE IN LICENSE.md', 'SEE LICENSE IN LICENSE.md'],
] as const) {
  test(`A package of ${group} with the licence ${licence ?? 'unsaid'} is named`, async () => {
    const changed = lock()
    const found = changed.packages[path] as Package
    if (licence === undefined) delete found.license
    else found.license = licence
    const { code, stderr } = await check(changed)
    assert.equal(code, 1)
    assert.match(stderr, new RegExp(`^${path.slice('node_modules/'.length)} \\S+ \\(${group}\\): its licence, `))
    assert.ok(stderr.includes(`, ${complaint}, is not permitted`), stderr)
  })
}

test('One of several licences that may be chosen is enough', async () => {
  const changed = lock()
  ;(changed.packages['node_modules/pg-types'] as Package).license = '(GPL-3.0 OR MIT)'
  assert.equal((await check(changed)).code, 0)
})

test('More packages in production than were decided on, or any in the client, are named', async () => {
  const changed = lock()
  changed.packages['node_modules/one-more'] = { license: 'MIT' }
  ;(changed.packages.client as Package).dependencies = { 'one-more': '1.0.0' }
  const { code, stderr } = await check(changed)
  assert.equal(code, 1)
  assert.match(stderr, /production installs \d+ packages, and \d+ are permitted/)
  assert.match(stderr, /the client depends on one-more/)
})

test('A package of the console of which nobody said whether it goes out with the service is named', async () => {
  const changed = lock()
  const { devDependencies } = changed.packages.console as Package
  ;(changed.packages.console as Package).devDependencies = { ...devDependencies, 'one-more': '1.0.0' }
  assert.match((await check(changed)).stderr, /^one-more: say in server\/check-dependencies\.ts/)
})

test('The record of the dependencies says of each in production what it is for, and its licence', () => {
  const record = readFileSync(new URL('docs/decisions/0009-dependencies.md', root), 'utf8')
  const { packages } = lock()
  for (const name of Object.keys(packages.server?.dependencies ?? {})) {
    const { license } = packages[`node_modules/${name}`] as Package
    const row = record.split('\n').find((line) => line.startsWith(`| \`${name}\` |`))
    assert.ok(row?.includes(`| ${license} |`), `${name}, ${license}`)
  }
})
