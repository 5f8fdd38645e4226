// Holds what is installed to a number and to licences: npm run dependencies. Reads package-lock.json, or the file that is named.
import { readFileSync } from 'node:fs'

/** How many packages production may install. A higher number is a decision: docs/decisions/0009-dependencies.md. */
const most = 63

const permissive = ['MIT', 'ISC', 'BSD-2-Clause', 'BSD-3-Clause', 'Apache-2.0', '0BSD', 'Unlicense', 'BlueOak-1.0.0']
// What only builds and tests is not passed on, so that changes to it need not be shared either.
const permitted = { production: permissive, console: permissive, development: [...permissive, 'MPL-2.0'] }

// The console is built from these, and goes out with the service; the others only build it.
const bundled = ['@tanstack/react-query', 'diff', 'lucide-react', 'react', 'react-dom', 'wouter']
const builders = ['@types/react', '@types/react-dom', '@vitejs/plugin-react', 'vite']

interface Package {
  version?: string
  license?: string
  dev?: boolean
  devOptional?: boolean
  link?: boolean
  dependencies?: Record<string, string>
  devDependencies?: Record<string, string>
}

const file = process.argv[2] ?? new URL('../package-lock.json', import.meta.url)
const { packages }: { packages: Record<string, Package> } = JSON.parse(readFileSync(file, 'utf8'))
const installed = Object.entries(packages).filter(([path, { link }]) => path.includes('node_modules/') && !link)
const inConsole = reachedFrom(bundled)
const problems: string[] = []

const groups = Map.groupBy(installed, ([path, { dev, devOptional }]): keyof typeof permitted => {
  if (!dev && !devOptional) return 'production'
  return inConsole.has(path) ? 'console' : 'development'
})
for (const [group, members] of groups) {
  for (const [path, { version, license }] of members) {
    if (isPermitted(license, permitted[group])) continue
    problems.push(
      `${nameOf(path)} ${version} (${group}): its licence, ${license ?? 'of which it says nothing'}, is not permitted`,
    )
  }
}

const production = groups.get('production') ?? []
if (production.length > most) {
  problems.push(`production installs ${production.length} packages, and ${most} are permitted: npm ls --omit=dev --all`)
}
for (const name of Object.keys(packages.client?.dependencies ?? {})) problems.push(`the client depends on ${name}`)
for (const name of Object.keys(packages.console?.devDependencies ?? {})) {
  if ([...bundled, ...builders].includes(name)) continue
  problems.push(`${name}: say in server/check-dependencies.ts whether the console is built from it`)
}

for (const [group, members] of groups) console.log(`${group}: ${members.length} packages, ${licencesOf(members)}`)
for (const problem of problems) console.error(problem)
process.exitCode = problems.length === 0 ? 0 : 1

/** An expression such as (MIT OR GPL-3.0), of which one part has to do; of those joined by AND all. */
function isPermitted(expression: string | undefined, licences: string[]): boolean {
  if (expression === undefined) return false
  const alternatives = expression.replaceAll(/[()]/g, '').split(' OR ')
  return alternatives.some((parts) => parts.split(' AND ').every((licence) => licences.includes(licence)))
}

/** The packages of these names with all that they depend on, by their path. */
function reachedFrom(names: string[]): Set<string> {
  const paths = new Set(names.map((name) => `node_modules/${name}`))
  for (const path of paths) {
    for (const name of Object.keys(packages[path]?.dependencies ?? {})) paths.add(placeOf(path, name))
  }
  return paths
}

/** Where node finds a package: beside the one that asks for it, or further up. */
function placeOf(from: string, name: string): string {
  const near = `${from}/node_modules/${name}`
  if (packages[near] !== undefined) return near
  const end = from.lastIndexOf('/node_modules/')
  return end === -1 ? `node_modules/${name}` : placeOf(from.slice(0, end), name)
}

function nameOf(path: string): string {
  return path.slice(path.lastIndexOf('node_modules/') + 'node_modules/'.length)
}

function licencesOf(members: [string, Package][]): string {
  const counts = Map.groupBy(members, ([, { license }]) => license ?? 'none')
  return [...counts].map(([licence, { length }]) => `${length} ${licence}`).join(', ')
}
