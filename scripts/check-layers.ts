import { existsSync, readFileSync } from 'node:fs'
import { dirname, join, normalize } from 'node:path'
import { fileURLToPath } from 'node:url'
import { sourceFiles } from './source-files.ts'

// The directory table in docs/architecture.md is the rule: a row says what its folder may import. This check enforces
// each row, so the table cannot drift from the code. Import cycles are Biome's job (noImportCycles).

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
const problems = sourceFiles(root, ['*.ts', '*.tsx']).flatMap(problemsOf)
for (const problem of problems) process.stderr.write(`${problem}\n`)
if (problems.length > 0) process.stderr.write(`\n${problems.length} imports break the directory table in ${table}.\n`)
process.exitCode = problems.length > 0 ? 1 : 0

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

function problemsOf(file: string): string[] {
  const layer = layerOf(file)
  if (layer === undefined) return [`${file}: no row of the table covers it`]
  const text = readFileSync(join(root, file), 'utf8')
  return [...text.matchAll(specifier)].flatMap(([, from, dynamic]) => {
    const name = (from ?? dynamic) as string
    const allowed = name.startsWith('.') ? mayImportFile(layer, file, name) : mayImportPackage(layer, name)
    return allowed ? [] : [`${file}: ${layer.folder} may not import ${name}`]
  })
}

function mayImportFile({ folder, folders }: Layer, file: string, name: string): boolean {
  const target = normalize(join(dirname(file), name))
  if (folders === null || layerOf(target)?.folder === folder) return true
  return folders.some((allowed) => target === allowed || (allowed.endsWith('/') && target.startsWith(allowed)))
}

function mayImportPackage({ packages }: Layer, name: string): boolean {
  return packages === null || packages.some((allowed) => name === allowed || name.startsWith(`${allowed}/`))
}
