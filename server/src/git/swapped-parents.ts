import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { decode } from './bytes.ts'
import { GitError, git, mainlineRefs, originalParents, withinLimit } from './run.ts'

/** A merge at which the default branch continues at another than the first parent. */
export interface SwappedMerge {
  merge: string
  /** The parent on the default branch comes first. */
  parents: string[]
}

// Three git processes for each group, instead of one for each merge.
const groupSize = 500
const maxGroupBytes = 4 * 1024 * 1024

/** Makes git read copies of these merges, with their parents in this order, in place of the merges. */
export async function swapParents(mirror: string, merges: SwappedMerge[]): Promise<void> {
  for (let start = 0; start < merges.length; start += groupSize) {
    const group = merges.slice(start, start + groupSize)
    try {
      await swapGroup(mirror, group)
    } catch (error) {
      if (!(error instanceof GitError)) throw error
      for (const each of group) await swapOne(mirror, each)
    }
  }
}

async function swapOne(mirror: string, { merge, parents }: SwappedMerge): Promise<void> {
  // A hostile merge that git cannot copy within its limits keeps its parents.
  await withinLimit(git(['replace', '--graft', '--force', merge, ...parents], { mirror }), () => null)
}

async function swapGroup(mirror: string, group: SwappedMerge[]): Promise<void> {
  const folder = await mkdtemp(join(mirror, 'swapped-'))
  try {
    const paths: string[] = []
    for (const [i, copy] of (await readSwapped(mirror, group)).entries()) {
      const path = join(folder, String(i))
      await writeFile(path, copy)
      paths.push(path)
    }
    const hashing = ['hash-object', '-t', 'commit', '-w', '--no-filters', '--stdin-paths']
    const shas = decode(await git(hashing, { mirror, input: lines(paths) })).split('\n')
    const refs = group.map(({ merge }, i) => `update ${mainlineRefs}${merge} ${shas[i]}`)
    await git(['update-ref', '--stdin'], { mirror, input: lines(refs) })
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}

/** The merges as git stores them, with their parents in the given order and without a signature, which would be wrong. */
async function readSwapped(mirror: string, group: SwappedMerge[]): Promise<Buffer[]> {
  const input = lines(group.map(({ merge }) => merge))
  const output = await git(['cat-file', '--batch=%(objectsize)'], {
    mirror,
    input,
    env: originalParents,
    maxBytes: maxGroupBytes,
  })
  let start = 0
  return group.map(({ parents }) => {
    const end = output.indexOf('\n', start)
    const size = Number(output.toString('latin1', start, end))
    const commit = output.subarray(end + 1, end + 1 + size)
    start = end + 1 + size + 1
    return withParents(commit, parents)
  })
}

function withParents(commit: Buffer, parents: string[]): Buffer {
  const end = commit.indexOf('\n\n')
  if (end === -1) throw new GitError('cat-file', 'printed a commit without a message')
  const [tree = '', ...headers] = commit.toString('latin1', 0, end).split('\n')
  let isDropped = false
  const others = headers.filter((line) => {
    // A header continues in lines that start with a space.
    if (!line.startsWith(' ')) isDropped = /^(parent|gpgsig|gpgsig-sha256|mergetag) /.test(line)
    return !isDropped
  })
  const head = [tree, ...parents.map((parent) => `parent ${parent}`), ...others].join('\n')
  return Buffer.concat([Buffer.from(head, 'latin1'), commit.subarray(end)])
}

function lines(texts: string[]): string {
  return texts.map((text) => `${text}\n`).join('')
}
