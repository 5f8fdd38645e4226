import { commitTrace } from '../domain/history/pull.ts'
import { isLocalUrl } from '../domain/repositories/repository-url.ts'
import { forgeOf } from '../forges/index.ts'
import { bareNumberAtEnd, type MergeReference, numbersIn } from '../forges/merge-reference.ts'
import { pageReferenceIn } from '../forges/page-reference.ts'
import { streamLine } from '../git/added-commits.ts'
import type { Commit } from '../git/commit.ts'
import type { MergeText } from '../git/log.ts'
import type { PullRefs } from '../git/pull-refs.ts'
import { withinLimit } from '../git/run.ts'
import { type BranchBudget, createBranchBudget, maxBranchesPerSync } from './branch-budget.ts'
import { claimHandSquashes, type Hint, isForgeTitle } from './hand-squashes.ts'
import { referenceReader } from './merge-references.ts'
import { claimHeads } from './merged-heads.ts'
import { type ClaimSearch, readPullAncestry, type SquashCandidate } from './pull-ancestry.ts'
import { createClaims, type Mention, type PullClaims } from './pull-claims.ts'
import { claimPages, collectPageRows, pageReader } from './pull-pages.ts'
import { type PullTips, readTips } from './pull-tips.ts'
import { claimRebases } from './rebases.ts'
import { canBeSquash, claimSquashes } from './squashes.ts'
import type { SyncRun } from './sync-run.ts'

// Of the newest commits. Each takes about 70 bytes of memory.
const maxTraces = 500_000

/**
 * Finds which pull request landed as which commits of the default branch, from git alone. A message names a pull request but does
 * not prove it: see `Proof`. What the forge reported in deliveries takes precedence over all of it.
 *
 * Reads every commit from `from` to the newest, with or without prompts: a commit that only mentions a pull request may change a
 * prompt although the one that landed it does not. `reported` are the numbers that deliveries have told of.
 */
export async function readPullEvidence(
  run: SyncRun,
  from: string | null,
  reported: ReadonlySet<number>,
  budget: BranchBudget = branchBudgetOf(run, null),
): Promise<PullClaims> {
  const { repository } = run.lease
  const forge = forgeOf(repository.forge)
  const readReference = referenceReader(repository)
  const readPage = pageReader(repository, namesPages(run, from) ? await run.places() : new Set())
  const claims = createClaims()
  // Only the head of every pull request shows which one was rebased. While deliveries arrive, the forge tells.
  const searchesRebases = from === null || run.isPoll
  const mayLand = (commit: Commit) =>
    commit.parents.length > 1 || readReference(commit) !== null || readPage(commit) !== null
  if (!searchesRebases && !(await hasCommit(run, from, mayLand))) return claims
  const refs = await run.pullRefs()
  const merges: Mention[] = []
  const titles: Mention[] = []
  const hints: Hint[] = []
  const pages = collectPageRows()
  const traces = new Set<string>()
  let hasOthers = false

  // A clone in a folder may lack the refs of the forge. Then only the text that the forge itself writes counts.
  const hasAllRefs = refs.isComplete && (refs.count > 0 || !isLocalUrl(repository.url))
  const isProven = ({ number, isForgeText }: MergeReference, { committer }: Commit) => {
    if (refs.headOf(number) !== null) return isForgeText && !forge.keepsPullRefs
    if (reported.has(number)) return true
    if (!forge.keepsPullRefs) return isForgeText
    return !hasAllRefs && (isForgeText || forge.isForgeCommitter(committer))
  }

  const read = async () => {
    for await (const commit of streamLine(run.mirror.path, from, run.tip, run.added)) {
      const { sha, committedAt, author, committer } = commit
      const [parent = null, ...merged] = commit.parents
      const reference = readReference(commit)
      if (searchesRebases && merged.length === 0 && traces.size < maxTraces) traces.add(commitTrace(commit))
      const number = numberOfHeads(merged, commit, reference, refs)
      const isTold = reference !== null && isProven(reference, commit)
      const page = number === null && !isTold ? readPage(commit) : null
      pages.add(commit, page)
      if (page !== null) continue
      if (number !== null) {
        claims.add({ number, proof: 'head', landing: sha, landed: [sha] })
      } else if (reference !== null && isTold) {
        // Older commits replace newer ones, but not those with a better proof.
        const isBetter = claims.claimFor(reference.number)?.proof !== 'head'
        if (isBetter) claims.add({ number: reference.number, proof: 'message', landing: sha, landed: [sha] })
      } else {
        const byForge = forge.isForgeCommitter(committer)
        const mention = { sha, parent, merged, committedAt, author, committer, byForge }
        if (merged.length === 0) hasOthers = true
        if (reference === null && merged.length > 0) {
          merges.push(...hintsIn(commit, mention, refs, null).map((hint) => ({ ...hint, isBare: true })))
        } else if (reference === null) {
          if (!searchesRebases) continue
          const number = bareNumberAtEnd(subjectOf(commit))
          hints.push(...hintsIn(commit, mention, refs, number))
          if (number !== null) titles.push({ ...mention, number, isBare: true })
        } else if (merged.length > 0) merges.push({ ...mention, number: reference.number })
        else titles.push({ ...mention, number: reference.number })
      }
    }
  }
  // Messages that are too large for git's limits prove nothing. The commits read so far are newer than those.
  await withinLimit(read(), () => {})
  await claimPages({ run, from, refs, claims, readPage }, pages.rows())
  const mentions = [...merges, ...titles]
  if (refs.count === 0 || (mentions.length === 0 && !(searchesRebases && hasOthers))) return claims
  const numbers = new Set([...mentions, ...hints].map(({ number }) => number))
  const tips = await readTips(run, refs, searchesRebases ? refs.numbers() : numbers, { numbers, traces }, budget)
  const ancestry = await readPullAncestry(run, from, {
    commits: [...mentions, ...hints].map(({ sha }) => sha),
    heads: [...numbers].flatMap((number) => (tips.tipOf(number) === undefined ? (refs.headOf(number) ?? []) : [])),
    candidates: candidatesOf([...mentions, ...hints.filter(isForgeTitle)], tips, claims),
    budget,
  })
  const search: ClaimSearch = { run, from, refs, tips, claims, ancestry, readReference, budget }
  await claimHeads(search, merges)
  await claimSquashes(search, titles)
  if (searchesRebases) {
    await claimRebases(search)
    await claimHandSquashes(search, hints)
  }
  return claims
}

export function branchBudgetOf({ context }: SyncRun, below: number | null): BranchBudget {
  return createBranchBudget(below, context.maxPullBranches ?? maxBranchesPerSync)
}

/** Titles with the number of a head that is old enough to have landed there. */
function candidatesOf(mentions: Mention[], tips: PullTips, claims: PullClaims): SquashCandidate[] {
  return mentions.flatMap((mention) => {
    if (mention.isBare && mention.merged.length > 0) return []
    const tip = claims.claimFor(mention.number) === undefined ? tips.tipOf(mention.number) : undefined
    return tip !== undefined && canBeSquash(tip, mention) ? { mention, tip } : []
  })
}

/** The pull requests that the title has the number of, though not as the forge or a bot writes it. */
function hintsIn(commit: Commit, mention: Omit<Mention, 'number'>, refs: PullRefs, atEnd: number | null): Hint[] {
  const subject = subjectOf(commit)
  if (subject.startsWith('Revert ')) return []
  return numbersIn(subject)
    .filter(({ number }) => refs.headOf(number) !== null)
    .map((found) => ({ ...mention, ...found, isBare: found.number === atEnd, authoredAt: commit.authoredAt }))
}

/** Whether messages may name the page of a pull request. */
function namesPages({ added }: SyncRun, from: string | null): boolean {
  return added?.from !== from || added.line.some(({ message }) => pageReferenceIn(message) !== null)
}

/** Whether any new commit may land a pull request. Most pushes have none, and need no list of pull requests. */
async function hasCommit(run: SyncRun, from: string | null, matches: (commit: Commit) => boolean): Promise<boolean> {
  const find = async () => {
    for await (const commit of streamLine(run.mirror.path, from, run.tip, run.added)) {
      if (matches(commit)) return true
    }
    return false
  }
  return withinLimit(find(), () => true)
}

/**
 * The pull request whose head is merged. Of several with the same head, the one that the subject names. If it names none of them,
 * nothing tells which one landed.
 */
function numberOfHeads(merged: string[], commit: MergeText, reference: MergeReference | null, refs: PullRefs) {
  for (const head of merged) {
    if (reference !== null && refs.headOf(reference.number) === head) return reference.number
    const numbers = refs.numbersOf(head)
    const [number, ...others] = numbers.length > 1 ? namedIn(subjectOf(commit), head, refs) : numbers
    if (number !== undefined && others.length === 0) return number
  }
  return null
}

function subjectOf({ message }: MergeText): string {
  return message.split('\n', 1)[0] ?? ''
}

/**
 * The pull requests with this head that the subject names as `#7` or `!7`, also with a path before it (`Merge acme/prompts#7: …`).
 * Looks up what the subject names, because any number of pull requests can have the head.
 */
function namedIn(subject: string, head: string, refs: PullRefs): number[] {
  const named = new Set(subject.matchAll(/[#!]([1-9]\d*)/g).map(([, digits]) => Number(digits)))
  return [...named].filter((number) => refs.headOf(number) === head)
}
