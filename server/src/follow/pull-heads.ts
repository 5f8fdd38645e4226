import { commitTrace, type Pull, type PullEvent, type PullFile, type PullHead } from '../domain/history/pull.ts'
import { forgeOf } from '../forges/index.ts'
import { fetchCommit } from '../git/mirror.ts'
import { readPullHead } from '../git/pull-head.ts'
import { sanitisedPerson } from './edits.ts'
import { pullReportsOf, pushesTo } from './incoming-deliveries.ts'
import type { SyncRun } from './sync-run.ts'

export interface PullWithHeads {
  pull: Pull
  /** The newest reported head, if git does not have it. */
  missingHead: string | null
}

/** Reads the head commits that deliveries reported. */
export async function withReportedHeads(run: SyncRun, pull: Pull): Promise<PullWithHeads> {
  const reports = run.deliveries.flatMap(pullReportsOf).filter(({ number }) => number === pull.number)
  const reported = new Set(reports.map(({ event }) => event.head))
  const heads = [...pull.heads]
  let missingHead: string | null = null
  for (const event of pull.events) {
    if (!event.intoDefault || !reported.has(event.head) || heads.some(({ sha }) => sha.startsWith(event.head))) continue
    const refs = [forgeOf(run.lease.repository.forge).pullRef(pull.number), branchRef(event)]
    const sha = await fetchCommit(run.mirror, event.head, refs)
    if (sha !== null) heads.push(await readHead(run, sha, event))
    else if (event === pull.events.at(-1)) missingHead = event.head
  }
  return { pull: { ...pull, heads: withNewestTraces(pull.events, heads) }, missingHead }
}

// A fork's branch is in another repository. Only the forge's pull request ref leads to it.
function branchRef({ headBranch }: PullEvent): string | null {
  return headBranch.includes(':') ? null : `refs/heads/${headBranch}`
}

// Only the last heads are needed to find where a rebase landed. A pull request can have hundreds.
const headsWithTraces = 2

function withNewestTraces(events: PullEvent[], heads: PullHead[]): PullHead[] {
  const newestFirst = new Set(events.map(({ head }) => head).toReversed())
  const read = [...newestFirst].flatMap((head) => heads.find(({ sha }) => sha.startsWith(head)) ?? [])
  const newest = read.slice(0, headsWithTraces)
  return heads.map((head) => (newest.includes(head) ? head : { ...head, traces: [] }))
}

async function readHead(run: SyncRun, sha: string, { commitCount }: PullEvent): Promise<PullHead> {
  const push = pushesTo(run.branch, run.deliveries).find(({ after }) => after === sha)
  const { files, commits } = await readPullHead(
    run.mirror.path,
    { head: sha, tip: run.tip, commitCount, pushedFrom: push?.before ?? null },
    run.options,
  )
  return {
    sha,
    files: files.map((file): PullFile => ({ ...file, author: sanitisedPerson(file.author), promptId: null })),
    traces: commits.map(commitTrace),
  }
}
