import type { Change } from './changes.ts'
import type { Copies } from './copies.ts'
import { type Clone, gitSucceeds, gitText, type Objects } from './git.ts'
import type { Heads } from './heads.ts'
import type { LineCommit } from './line.ts'
import type { Pages } from './pages.ts'

export type PullKind = 'merge' | 'squash' | 'rebase' | 'fast-forward'

/** Which pull request a commit of the line landed. */
export type Proof =
  /** One of the numbers; several pull requests can have the same head. */
  { kind: PullKind; numbers: number[]; reason: string } | { kind: 'none' | 'unknown'; reason: string }

export interface ProofContext {
  clone: Clone
  objects: Objects
  forge: string
  heads: Heads
  copies: Copies
  pages: Pages
  /** `owner/project` of the repository itself; null if unknown. */
  project: string | null
}

/** A commit of the line that changes prompts, with a few of the files. */
export interface Landing {
  commit: LineCommit
  changes: Change[]
}

const dayMs = 86_400_000

export async function prove(context: ProofContext, { commit, changes }: Landing): Promise<Proof> {
  const { forge, heads, copies } = context
  const isMerge = commit.others.length > 0
  if (forge === 'gitlab' || forge === 'bitbucket') {
    const told = byForgeMessage(context, commit)
    if (told !== null) return told
  }
  const page = context.pages.get(commit.sha)
  if (page !== undefined && !isMerge) {
    const { numbers, isSure } = page
    if (isSure) return { kind: 'fast-forward', numbers, reason: 'its last paragraph has the URL' }
    return { kind: 'unknown', reason: `commits of other days have the URL of ${listed(numbers)} too` }
  }
  if (heads.byNumber.size === 0) return { kind: 'unknown', reason: 'the clone has no heads of pull requests' }
  if (isMerge) return proveMerge(context, commit)
  const own = heads.numbersOf.get(commit.sha)
  if (own !== undefined) {
    const numbers = own.filter((number) => commit.named.numbers.includes(number))
    return numbers.length > 0
      ? { kind: 'fast-forward', numbers, reason: 'it is the head of the pull request that it names' }
      : { kind: 'unknown', reason: `it is the head of ${listed(own)}, whose target git does not know` }
  }
  const doubts: string[] = []
  const rebases = copies.of.get(commit.sha) ?? []
  const rebased = rebases.map(({ number }) => number)
  // A squash of one pull request may be a commit of another, which landed with all its commits.
  const isPart = rebases.some(({ commits }) => commits.length > 1)
  for (const number of commit.named.numbers) {
    // The last commit of a rebase also has what the head has.
    if (isPart || rebased.includes(number)) break
    const verdict = await squashVerdict(context, commit, changes, number)
    // A pull request lands once.
    if (verdict === true && copies.again.has(commit.sha))
      return { kind: 'unknown', reason: 'an earlier commit of the line is the same' }
    if (verdict === true) return { kind: 'squash', numbers: [number], reason: 'same contents as the head' }
    if (verdict !== null) doubts.push(verdict)
  }
  if (rebased.length > 0) return { kind: 'rebase', numbers: rebased, reason: 'the same commits in a row' }
  if (doubts.length > 0) return { kind: 'unknown', reason: doubts.join('; ') }
  if (copies.partly.has(commit.sha))
    return { kind: 'unknown', reason: 'a pull request has the same commit, among others' }
  return { kind: 'none', reason: 'no head of a pull request leads to it' }
}

function byForgeMessage({ forge, project }: ProofContext, { named, others }: LineCommit): Proof | null {
  const [number] = named.numbers
  if (number === undefined) return null
  const isOwn = named.project === null || project === null || named.project.toLowerCase() === project
  if (!isOwn) return { kind: 'none', reason: `the message names another project, ${named.project}` }
  const kind = others.length > 0 ? 'merge' : 'squash'
  return { kind, numbers: [number], reason: `the message of ${forge} names it` }
}

async function proveMerge({ clone, heads }: ProofContext, commit: LineCommit): Promise<Proof> {
  const { before, others, named, committedAt } = commit
  const merged = others.map((parent) => heads.numbersOf.get(parent) ?? []).filter((numbers) => numbers.length > 0)
  // Of several pull requests with the same head, only the message tells which one landed.
  const numbers = merged.flatMap((each) =>
    each.length > 1 ? each.filter((number) => named.numbers.includes(number)) : each,
  )
  if (numbers.length > 0) return { kind: 'merge', numbers, reason: 'its other parent is the head' }
  if (merged.length > 0) return { kind: 'unknown', reason: `it merges the head of ${listed(merged.flat())}` }
  for (const number of named.numbers) {
    const head = heads.byNumber.get(number)
    if (head === undefined) continue
    if (heads.landed.has(head.sha) && (await brought(clone, commit, head.sha))) {
      return { kind: 'merge', numbers: [number], reason: 'it brings the head' }
    }
    const isOlder = head.committedAt <= committedAt + dayMs
    const isEarlier = before !== null && heads.landed.has(head.sha)
    if (isOlder && !isEarlier) {
      return { kind: 'unknown', reason: `it names #${number}, whose head is another commit` }
    }
  }
  return { kind: 'none', reason: 'no other parent is the head of a pull request' }
}

/** Whether the commit brought another one to the line. */
export async function brought(clone: Clone, { sha, before }: LineCommit, other: string): Promise<boolean> {
  if (!(await gitSucceeds(clone, ['merge-base', '--is-ancestor', other, sha]))) return false
  return before === null || !(await gitSucceeds(clone, ['merge-base', '--is-ancestor', other, before]))
}

/** True if the commit has what the head has; null if the pull request cannot be it; otherwise what is in doubt. */
async function squashVerdict(
  { clone, objects, heads }: ProofContext,
  commit: LineCommit,
  changes: Change[],
  number: number,
): Promise<true | string | null> {
  const head = heads.byNumber.get(number)
  if (head === undefined || head.committedAt > commit.committedAt + dayMs) return null
  if (commit.before !== null && heads.landed.has(head.sha)) {
    if (await gitSucceeds(clone, ['merge-base', '--is-ancestor', head.sha, commit.before])) return null
  }
  if (await hasSameFile(objects, head.sha, changes)) return true
  if (await mergesTo(clone, commit, head.sha)) return true
  // The pull request of that number was made for another history than the one that the commit belongs to.
  if (!(await gitSucceeds(clone, ['merge-base', head.sha, commit.sha]))) return null
  return `it names #${number}, whose contents differ`
}

async function hasSameFile(objects: Objects, head: string, changes: Change[]): Promise<boolean> {
  for (const { path, newBlob } of changes) {
    if (newBlob !== null && (await objects.idOf(`${head}:${path}`)) === newBlob) return true
  }
  return false
}

/** Whether git itself gets the commit's tree by merging the head into the commit before. */
async function mergesTo(clone: Clone, { sha, before }: LineCommit, head: string): Promise<boolean> {
  if (before === null) return false
  const merged = await gitText(clone, ['merge-tree', '--write-tree', before, head]).catch(() => '')
  return merged.trim() === (await gitText(clone, ['rev-parse', `${sha}^{tree}`])).trim()
}

/** Whether the commit is the head of a pull request, so that others with copies of it did not land it. */
export function isHeadOfAnother({ heads }: ProofContext, { sha }: LineCommit, number: number): boolean {
  return heads.numbersOf.get(sha)?.includes(number) === false
}

/** Whether git contradicts a number that the product named without proof. */
export async function isInvented(context: ProofContext, commit: LineCommit, number: number): Promise<boolean> {
  const head = context.heads.byNumber.get(number)
  if (head === undefined) return context.heads.byNumber.size > 0
  if (head.sha === commit.sha) return false
  return !(await brought(context.clone, commit, head.sha))
}

function listed(numbers: number[]): string {
  return numbers.map((number) => `#${number}`).join(', ')
}
