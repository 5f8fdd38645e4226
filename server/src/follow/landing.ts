import { commitTrace, mergeOf, type Pull } from '../domain/history/pull.ts'
import { type Commit, isAncestor, type LogOptions, readCommits, readLog } from '../git/log.ts'
import { resolve } from '../git/mirror.ts'
import { landingOf } from '../git/pull-head.ts'

export interface Landing {
  landing: string
  /** Every commit of the pull request on the default branch. */
  landed: string[]
}

// A squash bears the date of its merge.
const nearby = 5 * 60_000
// How far back on the default branch a merge is looked for that no forge named.
const farBack = 1_000

/** Where a merged pull request came to the default branch; null where it is not known to have. */
export async function findLanding(
  mirror: string,
  tip: string,
  pull: Pull,
  options: LogOptions,
): Promise<Landing | null> {
  const event = mergeOf(pull)
  const unclear = pull.events.findLast(({ kind, intoDefault }) => kind === 'unclear' && intoDefault)
  if (event?.mergeCommit) {
    const landing = await resolve(mirror, event.mergeCommit)
    // We may have the commit already, as the pull request's own, before the default branch has it.
    const landed = landing !== null && (await isAncestor(mirror, landing, tip))
    return landed ? withCommits(mirror, landing, pull) : null
  }
  const head = pull.heads.find(({ sha }) => sha.startsWith((event ?? unclear)?.head ?? '-'))
  if (head === undefined) return null
  const merged = await landingOf(mirror, head.sha, tip)
  if (merged !== null) return withCommits(mirror, merged, pull)
  if (event === undefined) return null
  const landing = await findCopy(mirror, tip, pull, options)
  return landing === null ? null : withCommits(mirror, landing, pull)
}

/** Rebased commits follow one another up to the landing; a merge or a squash is one commit. */
async function withCommits(mirror: string, landing: string, pull: Pull): Promise<Landing> {
  const traces = new Set(pull.heads.flatMap((head) => head.traces))
  const count = Math.max(traces.size, 1)
  const commits = await readCommits(mirror, ['--first-parent', '-n', String(count), landing])
  const landed: string[] = []
  for (const commit of commits) {
    if (commit.parents.length > 1 || !traces.has(commitTrace(commit))) break
    landed.push(commit.sha)
  }
  return { landing, landed: landed.length === 0 ? [landing] : landed }
}

/**
 * The commit by which a rebase or a squash landed, where the forge did not say: one with the trace of the pull request's
 * newest commit, else one that leaves the files as the pull request had them, else one of that time that bears its title.
 */
async function findCopy(mirror: string, tip: string, pull: Pull, options: LogOptions): Promise<string | null> {
  const event = mergeOf(pull)
  const head = pull.heads.find(({ sha }) => sha.startsWith(event?.head ?? '-'))
  if (event === undefined || head === undefined) return null
  const commits = await readCommits(mirror, ['--first-parent', '-n', String(farBack), tip, `^${head.sha}`])
  const rebased = commits.find((commit) => commitTrace(commit) === head.traces[0])
  if (rebased !== undefined) return rebased.sha

  const wanted = new Map(head.files.map(({ path, newBlob }) => [path, newBlob]))
  let titled: string | null = null
  for await (const commit of readLog(mirror, ['--first-parent', '-n', String(farBack), tip, `^${head.sha}`], options)) {
    if (isCopy(commit, wanted)) return commit.sha
    const isTitled = pull.title !== '' && commit.message.split('\n', 1)[0] === pull.title
    if (isTitled && Math.abs(commit.committedAt - event.at) < nearby) titled ??= commit.sha
  }
  return titled
}

function isCopy({ files }: Commit, wanted: Map<string, string | null>): boolean {
  const found = files.filter(({ path, newBlob }) => wanted.get(path) === newBlob)
  return wanted.size > 0 && found.length === wanted.size
}
