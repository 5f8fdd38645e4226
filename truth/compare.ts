import { hash } from 'node:crypto'
import { type Change, type ChangeOptions, readChanges } from './changes.ts'
import type { Clone } from './git.ts'
import type { Line, LineCommit } from './line.ts'
import { isHeadOfAnother, isInvented, type Landing, type ProofContext, prove } from './proof.ts'
import type { History, Recorded } from './recorded.ts'
import { count, createTallies, type Tallies } from './tally.ts'

/** An entry that is compared in more depth. */
export interface Checked {
  commit: LineCommit
  change: Change
  recorded: Recorded
}

export interface CompareOptions extends ChangeOptions {
  /** How many texts, and how many authors of merges, to read. */
  sample: number
  /** The oldest commits of a shallow clone, whose changes are unknown. */
  boundary: Set<string>
}

/** Compares every commit of the line that changes prompts with what was recorded, and returns entries to check further. */
export async function compare(
  clone: Clone,
  line: Line,
  history: History,
  context: ProofContext,
  options: CompareOptions,
): Promise<{ tallies: Tallies; texts: Checked[]; merges: Checked[] }> {
  const tallies = createTallies()
  const texts = createSample<Checked>(options.sample)
  const merges = createSample<Checked>(options.sample)
  const bySha = new Map(line.commits.map((commit) => [commit.sha, commit]))
  const seen = new Set<string>()
  const latest = createLatest()
  for await (const { sha, changes } of readChanges(clone, line.commits, options)) {
    seen.add(sha)
    const commit = bySha.get(sha) as LineCommit
    const earliest = latest(commit.committedAt)
    if (options.boundary.has(sha)) continue
    const recorded = history.of(sha)
    if (line.unknown.has(sha)) {
      tallies.line.unknown++
      continue
    }
    if (recorded.length === 0) {
      count(tallies.line, 'missing', sha, `"${commit.subject}" changes ${changes[0]?.path}`)
      count(tallies.entries, 'missing', sha, 'its commit was not recorded', changes.length)
      continue
    }
    tallies.line.right++
    for (const [change, match] of compareEntries(tallies, commit, changes, recorded)) {
      const checked = { commit, change, recorded: match }
      compareTime(tallies, checked, earliest)
      if (isSideMerge(checked)) merges.add(`${sha} ${change.path}`, checked)
      else compareAuthor(tallies, checked, [commit.author])
      if (match.entry !== null) texts.add(`${sha} ${change.path}`, checked)
    }
    await comparePull(tallies, context, { commit, changes: changes.slice(0, maxProofFiles) }, recorded)
  }
  for (const sha of history.commits()) {
    if (seen.has(sha)) continue
    if (line.unknown.has(sha)) tallies.line.unknown++
    else countUnexpected(tallies, sha, bySha.has(sha), history.of(sha).length)
  }
  return { tallies, texts: texts.items(), merges: merges.items() }
}

const maxProofFiles = 20

function countUnexpected({ line, entries }: Tallies, sha: string, isOnLine: boolean, edits: number): void {
  if (!isOnLine) count(line, 'wrong', sha, 'not on the line')
  count(entries, 'wrong', sha, isOnLine ? 'the commit changes no prompt' : 'its commit is not on the line', edits)
}

/** Returns the entries that match. */
function compareEntries(
  { entries, renames }: Tallies,
  { sha }: LineCommit,
  changes: Change[],
  recorded: Recorded[],
): [Change, Recorded][] {
  const byPath = new Map(recorded.map((each) => [each.path, each]))
  const matches: [Change, Recorded][] = []
  for (const change of changes) {
    const { path } = change
    const match = byPath.get(path)
    byPath.delete(path)
    if (isRename(change)) {
      if (match?.oldPath === change.oldPath) renames.right++
      else count(renames, 'missing', sha, `${change.oldPath} to ${path}`)
    } else if (match !== undefined && isRename(match)) count(renames, 'wrong', sha, `${match.oldPath} to ${path}`)
    // The product says which commits exceed its limits.
    if (match === undefined && recorded.some(({ tooLarge }) => tooLarge)) entries.unknown++
    else if (match === undefined) count(entries, 'missing', sha, path)
    else if (differs(change, match)) {
      count(entries, 'wrong', sha, `${path}: ${differs(change, match)}`)
      entries.missing++
    } else if (match.entry === null && match.number === null) count(entries, 'missing', sha, `${path}: no entry`)
    else {
      entries.right++
      matches.push([change, match])
    }
  }
  for (const path of byPath.keys()) count(entries, 'wrong', sha, `${path} is not changed`)
  return matches
}

function isRename({ path, oldPath }: Pick<Change, 'path' | 'oldPath'>): boolean {
  return oldPath !== null && oldPath !== path
}

function differs(change: Change, recorded: Recorded): string | null {
  for (const field of ['oldPath', 'oldBlob', 'newBlob'] as const) {
    if (change[field] !== recorded[field]) return `${field} is ${recorded[field]} instead of ${change[field]}`
  }
  return null
}

/** The newest date so far: history may raise the date of a commit to it, so that times do not go backwards. */
function createLatest() {
  let latest = 0
  return (at: number) => {
    latest = Math.max(latest, at)
    return latest
  }
}

function compareTime({ times }: Tallies, { commit, change, recorded: { entry } }: Checked, latest: number): void {
  if (entry === null) return
  if (entry.createdAt === commit.committedAt || entry.createdAt === latest) times.right++
  else {
    const [was, is] = [commit.committedAt, entry.createdAt].map((at) => new Date(at).toISOString())
    count(times, 'wrong', commit.sha, `${change.path}: ${is} instead of ${was}`)
  }
}

/** Whether the author is on the merged side. */
function isSideMerge({ commit, recorded: { entry } }: Checked): boolean {
  return entry?.action === 'pr_merged' && commit.others.length > 0
}

export function compareAuthor(
  { authors }: Tallies,
  { commit, change, recorded: { entry } }: Checked,
  expected: { name: string; email: string }[],
): void {
  if (entry === null) return
  const wanted = expected.map(shownPerson)
  const { name, email } = entry.user
  if (wanted.some((each) => each.name === name && each.email === email)) authors.right++
  else
    count(
      authors,
      'wrong',
      commit.sha,
      `${change.path}: ${name} instead of ${wanted.map((each) => each.name).join(' or ')}`,
    )
}

const maxNameLength = 1_000

/** As the API shows people: one line, and never empty. */
function shownPerson(person: { name: string; email: string }) {
  const [name, email] = [person.name, person.email].map((text) =>
    text
      .replaceAll(/\p{Cc}+/gu, ' ')
      .trim()
      .slice(0, maxNameLength),
  )
  return { name: name || email || 'unknown', email: email || 'unknown' }
}

/** Keeps `size` of the items that are added: always the same ones for the same keys, spread evenly. */
function createSample<Item>(size: number) {
  let kept: { rank: string; item: Item }[] = []
  const cut = () => {
    kept = kept.sort((a, b) => (a.rank < b.rank ? -1 : 1)).slice(0, size)
  }
  return {
    add(key: string, item: Item): void {
      kept.push({ rank: hash('sha1', key, 'hex'), item })
      // Sorted only now and then, which bounds both memory and time.
      if (kept.length >= 4 * size + 100) cut()
    },
    items(): Item[] {
      cut()
      return kept.map(({ item }) => item)
    },
  }
}

/** Compares the pull request that was recorded for a commit with the one that git proves. */
async function comparePull(
  tallies: Tallies,
  context: ProofContext,
  landing: Landing,
  recorded: Recorded[],
): Promise<void> {
  const { commit } = landing
  const proof = await prove(context, landing)
  const numbers = new Set(recorded.map(({ number }) => number).filter((number) => number !== null))
  const [number] = numbers
  const said = number === undefined ? 'none' : `#${number}`
  if (!('numbers' in proof)) {
    if (number === undefined) {
      if (proof.kind === 'unknown') tallies.invented.unknown++
      return
    }
    const isPlausible = proof.kind === 'unknown' && isMentioned(context, landing, number)
    if (isPlausible || !(await isInvented(context, commit, number))) tallies.invented.unknown++
    else count(tallies.invented, 'wrong', commit.sha, `${said}; ${proof.reason} ("${commit.subject}")`)
    return
  }
  const tally = tallies[proof.kind]
  const expected = proof.numbers.map((each) => `#${each}`).join(' or ')
  if (number !== undefined && numbers.size === 1 && proof.numbers.includes(number)) tally.right++
  else {
    const outcome = number === undefined ? 'missing' : 'wrong'
    count(tally, outcome, commit.sha, `${said} instead of ${expected}: ${proof.reason} ("${commit.subject}")`)
    if (number === undefined) return
    tally.missing++
    if (await isInvented(context, commit, number))
      count(tallies.invented, 'wrong', commit.sha, `${said}, not ${expected}`)
  }
}

function isMentioned(context: ProofContext, { commit }: Landing, number: number): boolean {
  const { heads, copies } = context
  if (context.pages.get(commit.sha)?.numbers.includes(number)) return true
  const isNamed = commit.named.numbers.includes(number) && heads.byNumber.has(number)
  const isCopied = copies.partly.has(commit.sha) && !isHeadOfAnother(context, commit, number)
  return heads.byNumber.size === 0 || isNamed || isCopied
}
