import { cp, mkdir, readFile, rm, writeFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { fileURLToPath } from 'node:url'
import { type Plugin, rolldown } from 'rolldown'
import { consoleFolder, demoPromptsFolder, migrationsFolders, referenceFolder } from '../server/src/files.ts'
import { billOfMaterials } from './bill-of-materials.ts'
import { type BundledPackage, distinct, licenceText, packagesOf } from './bundled-packages.ts'

const root = new URL('../', import.meta.url)

/** Writes the contents of the package `promptledger`: the bundled service and command, the built console, and other files. */
export async function buildPackage(folder: URL): Promise<void> {
  const code = new URL('dist/', folder)
  await rm(folder, { recursive: true, force: true })
  await mkdir(code, { recursive: true })
  const packages = distinct([...(await packagesOf(await bundle(code))), ...(await packagesOfConsole())])
  const manifest = await createManifest()
  const copies: [from: URL, to: URL][] = [
    [migrationsFolders.sqlite, new URL('migrations/sqlite/', code)],
    [migrationsFolders.postgres, new URL('migrations/postgres/', code)],
    [consoleFolder, new URL('console/', code)],
    [demoPromptsFolder, new URL('demo-prompts/', code)],
    [referenceFolder, new URL('reference/', code)],
    [new URL('bin.js', import.meta.url), new URL('bin.js', code)],
    [new URL('code-cache.js', import.meta.url), new URL('code-cache.js', code)],
    [new URL('README.md', import.meta.url), new URL('README.md', folder)],
    [new URL('LICENSE', root), new URL('LICENSE', folder)],
  ]
  for (const [from, to] of copies) await cp(from, to, { recursive: true, filter: (path) => !path.endsWith('.ts') })
  await writeFile(new URL('THIRD-PARTY-LICENCES.txt', folder), licenceText(packages))
  await writeJson(new URL('sbom.json', folder), billOfMaterials(manifest, packages))
  await writeJson(new URL('package.json', folder), manifest)
}

/** Vite lists what it bundled: see console/vite.config.ts. */
async function packagesOfConsole(): Promise<BundledPackage[]> {
  const listed: { name: string; version: string; identifier: string; text: string }[] = JSON.parse(
    await readFile(new URL('licences.json', consoleFolder), 'utf8'),
  )
  return listed.map(({ name, version, identifier, text }) => ({ name, version, licence: identifier, texts: [text] }))
}

function writeJson(file: URL, value: unknown): Promise<void> {
  return writeFile(file, `${JSON.stringify(value, null, 2)}\n`)
}

/**
 * Importing `node:http` evaluates all its exports, and one loads undici: a tenth of the start, for code that we do not use.
 * What is required evaluates them one by one.
 */
const requireHttp: Plugin = {
  name: 'require-http',
  resolveId: (id, importer) =>
    id === 'node:http' && importer !== undefined ? { id: `\0required-${id}`, moduleSideEffects: false } : null,
  load: (id) => {
    return id === '\0required-node:http' ? "module.exports = process.getBuiltinModule('node:http')" : null
  },
}

/**
 * Code imports these in any case, and a start uses none of them: HTTPS, which brings TLS, costs 12 ms, and HTTP/2 is left to a proxy.
 * Fastify compares versions only of plugins that ask for one, and schemas are compiled when the first body arrives.
 */
const neededLater = ['node:https', 'node:http2', 'semver', 'ajv']
const loadNow = createRequire(import.meta.url)

/** Their exports are getters, which load them. */
const onFirstUse: Plugin = {
  name: 'on-first-use',
  resolveId: (id, importer) =>
    neededLater.includes(id) && !importer?.startsWith('\0first-use-')
      ? { id: `\0first-use-${id}`, moduleSideEffects: false }
      : null,
  load: (id) => {
    const [, name] = /^\0first-use-(.*)$/.exec(id) ?? []
    if (name === undefined) return null
    const loaded = name.startsWith('node:')
      ? `process.getBuiltinModule('${name}')`
      : `require(${JSON.stringify(loadNow.resolve(name))})`
    const getters = Object.keys(loadNow(name)).map(
      (key) => `get ${JSON.stringify(key)}() { return ${loaded}[${JSON.stringify(key)}] }`,
    )
    return `module.exports = { ${getters.join(',\n')} }`
  },
}

/**
 * The router compiles a function for each part of each path while routes are added, most of them again whenever a later path splits
 * the part. That is a twelfth of the start. Compiled with its first request, each path is compiled once, or never.
 */
const compileRoutesLater: Plugin = {
  name: 'compile-routes-later',
  transform: {
    filter: { id: /find-my-way\/lib\/(node|handler-storage)\.js$/ },
    handler: (code, id) => {
      const later = 'let compiled\nreturn (a, b, c, d, e) => (compiled ??= $1)(a, b, c, d, e)'
      const changed = code.replace(/return (new Function\(.*) \/\/ eslint.*/, later)
      if (changed === code) throw new Error(`${id} no longer returns a function that it compiles`)
      return changed
    },
  },
}

/** One character that is not ASCII doubles the memory of a source text, and the time to read it. */
const asciiOnly: Plugin = {
  name: 'ascii-only',
  generateBundle(_, files) {
    for (const file of Object.values(files)) {
      if (file.type === 'chunk') file.code = file.code.replace(/(\\?)([^\0-\x7f])/g, escapeCharacter)
    }
  },
}

function escapeCharacter(_: string, backslash: string, character: string): string {
  if (backslash !== '') throw new Error(`Cannot escape ${character} after a backslash`)
  return `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`
}

const unused = [
  // pg uses it only where it is installed.
  'pg-native',
  // Fastify loads them on first use: server/src/http/app.ts replaces the compilers, and only tests inject requests.
  '@fastify/ajv-compiler',
  '@fastify/fast-json-stringify-compiler',
  'light-my-request',
]

/** The driver, and what uses it. */
const postgres = /server\/src\/store\/postgres\/|node_modules\/(pg|pg-[^/]+|pgpass|postgres-[^/]+|split2|xtend)\//

/** Returns the paths of the bundled modules. */
async function bundle(folder: URL): Promise<string[]> {
  // The worker process has a copy of what it needs. With the code of the service in the same file, it takes 7 MB more.
  return [...(await bundleEntry(folder, 'main', '')), ...(await bundleEntry(folder, 'worker', 'worker-'))]
}

async function bundleEntry(folder: URL, name: string, prefix: string): Promise<string[]> {
  const build = await rolldown({
    cwd: fileURLToPath(root),
    input: { [name]: `server/src/${name}.ts` },
    platform: 'node',
    resolve: { conditionNames: ['promptledger:source', 'node', 'default'] },
    external: unused,
    // From source, these imports do delay loading. In the bundle, what several chunks use is in `shared`.
    checks: { ineffectiveDynamicImport: false },
    plugins: [requireHttp, onFirstUse, compileRoutesLater, asciiOnly],
  })
  const { output } = await build.write({
    dir: fileURLToPath(folder),
    format: 'cjs',
    banner: "'use strict';",
    // Names of functions stay, for stack traces.
    minify: { compress: true, mangle: { keepNames: true }, codegen: { removeWhitespace: true } },
    // All in one folder, from where server/src/files.ts finds the other files.
    entryFileNames: '[name].js',
    chunkFileNames: `${prefix}[name]-[hash].js`,
    codeSplitting: {
      groups: [
        { name: 'shared', test: (id) => !postgres.test(id), minShareCount: 2, priority: 1 },
        // A start on SQLite does without.
        { name: 'postgres', test: postgres, minShareCount: 2 },
      ],
    },
  })
  await build.close()
  return output.flatMap((file) => (file.type === 'chunk' ? Object.keys(file.modules) : []))
}

/** Everything is bundled, so the package has no dependencies. */
async function createManifest() {
  const [{ name, version, license }, { description }] = await Promise.all(
    ['server/package.json', 'package.json'].map(async (path) =>
      JSON.parse(await readFile(new URL(path, root), 'utf8')),
    ),
  )
  return {
    name,
    version,
    description,
    license,
    bin: { promptledger: 'dist/bin.js' },
    engines: { node: '>=22.13' },
    files: ['dist', 'THIRD-PARTY-LICENCES.txt', 'sbom.json'],
  }
}
