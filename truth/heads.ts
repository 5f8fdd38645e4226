import { type Clone, gitFields } from './git.ts'

/** The newest commit of each pull request, as far as the clone has it. */
export interface Heads {
  byNumber: Map<number, { sha: string; committedAt: number }>
  /** Several pull requests can have the same head. */
  numbersOf: Map<string, number[]>
  /** The heads that the default branch contains. */
  landed: Set<string>
  /** Refs that the product cannot see because they are not where the forge publishes them. */
  elsewhere: { ref: string; published: string }[]
}

const published = /^refs\/(pull|merge-requests)\/(\d+)\/head$/
const copied = /^refs\/remotes\/[^/]+\/(pull|pr|merge-requests|mr)\/(\d+)(?:\/head)?$/

/**
 * A mirror of GitHub, Gitea or Forgejo has `refs/pull/N/head`, one of GitLab `refs/merge-requests/N/head`. Some people
 * fetch them to `refs/remotes/origin/pr/N`. A plain clone has none.
 */
export async function readHeads(clone: Clone, forge: string, tip: string): Promise<Heads> {
  const kind = forge === 'gitlab' ? 'merge-requests' : 'pull'
  const heads: Heads = { byNumber: new Map(), numbersOf: new Map(), landed: new Set(), elsewhere: [] }
  const format = '--format=%(refname) %(objectname) %(objecttype) %(committerdate:unix)'
  for await (const line of gitFields(
    clone,
    ['for-each-ref', format, 'refs/pull', 'refs/merge-requests', 'refs/remotes'],
    '\n',
  )) {
    const [ref = '', sha = '', type, seconds] = line.split(' ')
    const [, folder, digits] = published.exec(ref) ?? copied.exec(ref) ?? []
    const isMergeRequest = folder === 'merge-requests' || folder === 'mr'
    if (digits === undefined || type !== 'commit' || isMergeRequest !== (forge === 'gitlab')) continue
    const number = Number(digits)
    if (heads.byNumber.has(number)) continue
    heads.byNumber.set(number, { sha, committedAt: Number(seconds) * 1_000 })
    heads.numbersOf.set(sha, [...(heads.numbersOf.get(sha) ?? []), number])
    if (!published.test(ref)) heads.elsewhere.push({ ref, published: `refs/${kind}/${number}/head` })
  }
  if (heads.byNumber.size === 0) return heads
  for await (const sha of gitFields(clone, ['rev-list', tip, '--'], '\n')) {
    if (heads.numbersOf.has(sha)) heads.landed.add(sha)
  }
  return heads
}
