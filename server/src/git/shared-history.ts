import { readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { commonAncestor } from './log.ts'
import { borrowObjects, ensureMirror, fetchCommits, type Mirror, mirrorExists, resolveCommit } from './mirror.ts'
import { readRemoteHead } from './remote.ts'

/** How long fetching the commits of another URL may take. */
const fetchTimeoutMs = 120_000

/**
 * Whether the default branch of the remote has a commit in common with the history of `tip`, the newest known commit. The
 * mirror of the known history makes that cheap and more certain, but is not required.
 */
export async function sharesHistory(candidate: Mirror, knownMirror: string, tip: string): Promise<boolean> {
  const { branch, sha } = await readRemoteHead(candidate.remote)
  if (sha === null || branch === null) return false
  if (sha === tip) return true
  const isKnown = mirrorExists(knownMirror)
  if (isKnown && (await hasCommonCommit(knownMirror, tip, sha))) return true
  const temporary = { ...candidate, path: `${candidate.path}.compared` }
  await rm(temporary.path, { recursive: true, force: true })
  try {
    await ensureMirror(temporary, sha)
    if (isKnown) await borrowObjects(temporary.path, knownMirror)
    const settings = await readFile(join(temporary.path, 'config'))
    const fetched = await fetchCommits(temporary, branch, fetchTimeoutMs)
    // git has noted the URL, to fetch missing objects from. That fetch would use neither the checked address nor our limits.
    await writeFile(join(temporary.path, 'config'), settings)
    return await hasCommonCommit(temporary.path, tip, fetched)
  } finally {
    await rm(temporary.path, { recursive: true, force: true })
  }
}

async function hasCommonCommit(mirror: string, one: string, other: string): Promise<boolean> {
  if ((await resolveCommit(mirror, one)) === null || (await resolveCommit(mirror, other)) === null) return false
  return (await commonAncestor(mirror, one, other)) !== null
}
