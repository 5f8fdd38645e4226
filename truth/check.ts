import { asPublished, countCommits, mostNamed, type OpenedClone, openClone } from './clone.ts'
import { compare } from './compare.ts'
import { findCopies } from './copies.ts'
import { openObjects } from './git.ts'
import { type Heads, readHeads } from './heads.ts'
import { type Line, readLine } from './line.ts'
import { findPages } from './pages.ts'
import { backfill, type Cli, type Product, readTexts } from './product.ts'
import { openHistory } from './recorded.ts'
import type { Report } from './report.ts'
import { compareSideAuthors, compareTexts } from './texts.ts'

export interface CheckOptions {
  forge: string
  url: string | undefined
  glob: string
  similarity: number
  sample: number
  /** How to run the product: in a process of its own by default. */
  cli?: Cli
}

/** Backfills the clone in `folder`, reads git independently, and compares the two. */
export async function checkClone(
  path: string,
  folder: string,
  options: CheckOptions,
  log: (step: string) => void,
): Promise<Report> {
  const clone = await openClone(path, folder, options.url)
  const heads = await readHeads(clone, options.forge, clone.tip)
  const { forge, glob, similarity, cli } = options
  log('Backfilling …')
  const product = await backfill(folder, await asPublished(clone, folder, heads), {
    forge,
    path: glob,
    similarity,
    cli,
  })
  return checkBackfill(clone, heads, product, options, log)
}

/** Compares a backfill with git. */
export async function checkBackfill(
  clone: OpenedClone,
  heads: Heads,
  product: Product,
  { forge, glob, similarity, sample }: CheckOptions,
  log: (step: string) => void,
): Promise<Report> {
  const startedAt = performance.now()
  log(`Reading the line of ${clone.branch} …`)
  const projects = new Set(clone.project === null ? [] : [clone.project])
  const line = await readLine(clone, clone.tip, forge, { ...clone, forge, heads, projects })
  const project = clone.project ?? mostNamed(line.commits)
  log('Looking for rebased pull requests …')
  const copies = await findCopies(clone, line.commits, heads, clone.tip)
  log('Comparing …')
  const history = openHistory(product.database, product.repositoryId)
  const objects = openObjects(clone)
  const pages = findPages(line.commits, heads, addressOf(clone.origin), forge)
  const context = { clone, objects, forge, heads, copies, pages, project }
  const options = { glob, similarity, sample, boundary: clone.boundary }
  const { tallies, texts, merges } = await compare(clone, line, history, context, options)
  history.close()
  objects.close()
  log('Comparing texts and authors …')
  const entries = texts.flatMap(({ recorded: { entry } }) => entry ?? [])
  await compareTexts(tallies, clone, texts, await readTexts(product.folder, entries))
  await compareSideAuthors(tallies, clone, merges, { glob, similarity })
  return {
    clone: clone.path,
    branch: clone.branch,
    tip: clone.tip,
    forge,
    path: glob,
    commits: await countCommits(clone, clone.tip),
    prompts: product.prompts,
    entries: product.entries,
    backfillSeconds: product.seconds,
    seconds: product.seconds + (performance.now() - startedAt) / 1_000,
    notes: notesOn(clone, heads, line, project),
    classes: Object.values(tallies),
  }
}

/** `host/owner/project` of an address, in lower case; null if it is none. */
function addressOf(origin: string): string | null {
  const [, host, path] = /^(?:\w+:\/\/)?(?:[^@/]+@)?([\w.-]+\.\w+)(?::\d+)?[/:](.+?)(?:\.git)?\/*$/.exec(origin) ?? []
  return host === undefined ? null : `${host}/${path}`.toLowerCase()
}

function notesOn({ boundary, names }: OpenedClone, heads: Heads, line: Line, project: string | null): string[] {
  const merges = (count: number) => `${count} ${count === 1 ? 'merge' : 'merges'}`
  return [
    heads.byNumber.size === 0
      ? 'The clone has no heads of pull requests, so only what messages prove is checked. Clone with --mirror.'
      : `${heads.byNumber.size.toLocaleString('en')} heads of pull requests.`,
    `Names of the default branch: ${[...names].join(', ')}. Repository: ${project ?? 'unknown, pass --url'}.`,
    `The line leaves the first parents at ${merges(line.crossings.length)}; git does not decide about ${merges(line.undecided.length)}.`,
    ...(boundary.size > 0 ? ['The clone is shallow: the changes of its oldest commits are unknown.'] : []),
  ]
}
