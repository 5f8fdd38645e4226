import { existsSync, readFileSync } from 'node:fs'
import { dirname, join, normalize } from 'node:path'
import { fileURLToPath } from 'node:url'
import { sourceFiles } from './source-files.ts'

// The directory table in docs/architecture.md is the rule: a row says what its folder may import. This check enforces
// each row, so the table cannot drift from the code. It also rejects import cycles: Biome's rule for them takes 5 s.

interface Layer {
  folder: string
  /** Folders of ours that it may import besides itself; null for any. */
  folders: string[] | null
  /** Packages and Node modules that it may import; null for any. */
  packages: string[] | null
}

const table = 'docs/architecture.md'
const root = fileURLToPath(new URL('../', import.meta.url))
const specifier =
  /^(?:import|export)\b(?:[^'"`;=()]*?\bfrom)?\s*['"]([^'"\n]+)['"]|\bimport\(\s*['"]([^'"\n]+)['"]\s*\)/gm

const layers = readLayers(readFileSync(join(root, table), 'utf8'))
const importsOf = new Map(sourceFiles(root, ['*.ts', '*.tsx']).map((file) => [file, readImports(file)]))
const forbidden = [...importsOf.keys()].flatMap(forbiddenImports)
if (forbidden.length > 0) forbidden.push(`\n${forbidden.length} imports break the directory table in ${table}.`)
const cycles = findCycles().map((files) => `Import cycle: ${files.join(' imports ')}`)
for (const problem of [...forbidden, ...cycles]) process.stderr.write(`${problem}\n`)
process.exitCode = forbidden.length + cycles.length > 0 ? 1 : 0

/** What a file imports: files by their path in the repository, packages by their name. */
function readImports(file: string): string[] {
  const text = readFileSync(join(root, file), 'utf8')
  return [...text.matchAll(specifier)].map(([, from, dynamic]) => {
    const name = (from ?? dynamic) as string
    return name.startsWith('.') ? `./${normalize(join(dirname(file), name))}` : name
  })
}

/** One cycle per file that closes one, as the files on it in order of import. */
function findCycles(): string[][] {
  const cycles: string[][] = []
  const done = new Set<string>()
  const path: string[] = []
  const visit = (file: string) => {
    if (path.includes(file)) cycles.push([...path.slice(path.indexOf(file)), file])
    if (done.has(file)) return
    done.add(file)
    path.push(file)
    for (const name of importsOf.get(file) ?? []) if (name.startsWith('./')) visit(name.slice(2))
    path.pop()
  }
  for (const file of importsOf.keys()) visit(file)
  return cycles
}

function readLayers(markdown: string): Layer[] {
  const found = [...markdown.matchAll(/^\| `([^`]+)` \|[^|]*\|([^|]*)\|([^|]*)\|$/gm)].map(
    ([, folder = '', folders = '', packages = '']): Layer => ({
      folder,
      folders: namesIn(folders),
      packages: namesIn(packages),
    }),
  )
  for (const { folder, folders } of found) {
    for (const path of [folder, ...(folders ?? [])]) {
      if (!existsSync(join(root, path))) throw new Error(`${table} names ${path}, which does not exist`)
    }
  }
  return found.sort((a, b) => b.folder.length - a.folder.length)
}

/** The names in backticks; an empty list for "nothing", null for "anything". */
function namesIn(cell: string): string[] | null {
  return cell.trim() === 'anything' ? null : [...cell.matchAll(/`([^`]+)`/g)].map(([, name = '']) => name)
}

function layerOf(path: string): Layer | undefined {
  return layers.find(({ folder }) => path === folder || path.startsWith(folder))
}

function forbiddenImports(file: string): string[] {
  const layer = layerOf(file)
  if (layer === undefined) return [`${file}: no row of the table covers it`]
  return (importsOf.get(file) ?? [])
    .filter((name) => !(name.startsWith('./') ? mayImportFile(layer, name.slice(2)) : mayImportPackage(layer, name)))
    .map((name) => `${file}: ${layer.folder} may not import ${name}`)
}

function mayImportFile({ folder, folders }: Layer, target: string): boolean {
  if (folders === null || layerOf(target)?.folder === folder) return true
  return folders.some((allowed) => target === allowed || (allowed.endsWith('/') && target.startsWith(allowed)))
}

function mayImportPackage({ packages }: Layer, name: string): boolean {
  return packages === null || packages.some((allowed) => name === allowed || name.startsWith(`${allowed}/`))
}
