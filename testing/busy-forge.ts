import { ada, bob, GitRepository, web } from './git-repository.ts'
import type { Deliveries, Delivery, PullFacts } from './payloads.ts'

/** Something that happens at a forge: refs that change, then the delivery that tells of it. */
export interface Happening {
  refs: [ref: string, commit: string][]
  tell(forge: Deliveries): Delivery
}

export interface BusyRepository {
  git: GitRepository
  happenings: Happening[]
}

/**
 * A repository on GitHub with twenty deliveries in store: pushes, and three pull requests that are opened, updated, merged (by
 * `merge`, `squash` or `rebase`), closed and opened again. Its remote stands where it stood before the first of them.
 */
export function busyRepository(way: 'merge' | 'squash' | 'rebase'): BusyRepository {
  const git = new GitRepository()
  const happenings: Happening[] = []
  const start = git.commit('Start', { 'prompts/p.md': text('p', 0), 'prompts/q.md': text('q', 0) })
  git.push()
  let tip = start
  let minute = 0

  const tell = (refs: Happening['refs'], delivery: Happening['tell']) => happenings.push({ refs, tell: delivery })

  function pushed(branch: string, before: string | null, after: string): void {
    const refs: Happening['refs'] = [[`refs/heads/${branch}`, after]]
    tell(refs, (forge) => forge.push({ branch, before, after, commits: [{ sha: after }] }))
  }

  function land(after: string): void {
    pushed('main', tip, after)
    tip = after
  }

  function pull(number: number, action: PullFacts['action'], head: string, facts: Partial<PullFacts> = {}): void {
    const openedAt = `2026-11-02T0${number}:00:00Z`
    minute += 1
    const at = action === 'opened' ? openedAt : `2026-11-02T12:${String(minute).padStart(2, '0')}:00Z`
    const told = { action, number, head, headBranch: `work-${number}`, openedAt, at, ...facts }
    tell([[`refs/pull/${number}/head`, head]], (forge) => forge.pull(told))
  }

  function work(number: number, files: Record<string, string>, author = bob): string {
    const branch = `work-${number}`
    if (git.git('branch', '--list', branch) === '') git.switchTo(branch, 'main')
    else git.switchTo(branch)
    const commit = git.commit(`Work on ${number}`, files, { author })
    git.switchTo('main')
    return commit
  }

  function merge(number: number, commitCount: number): void {
    const head = git.head(`work-${number}`)
    const landing = landed(number)
    land(landing)
    pull(number, 'merged', head, { mergeCommit: landing, commitCount })
  }

  function landed(number: number): string {
    const branch = `work-${number}`
    if (way === 'merge')
      return git.merge(branch, `Merge pull request #${number} from acme/${branch}`, { committer: web })
    if (way === 'squash') return git.squash(branch, `Work (#${number})`, { committer: web, author: bob })
    return git.rebase(branch, { committer: web }).at(-1) as string
  }

  land(git.commit('Directly', { 'prompts/p.md': text('p', 1) }))
  const first = work(1, { 'prompts/q.md': text('q', 1) })
  pushed('work-1', null, first)
  pull(1, 'opened', first)
  land(git.commit('Directly', { 'prompts/p.md': text('p', 2) }, { author: bob }))
  const second = work(1, { 'prompts/q.md': text('q', 2) }, ada)
  pull(1, 'updated', second, { commitCount: 2 })
  const other = work(2, { 'prompts/p.md': text('p', 3), 'prompts/new.md': text('new', 1) })
  pull(2, 'opened', other)
  merge(1, 2)
  const third = work(3, { 'prompts/q.md': text('q', 3) })
  pull(3, 'opened', third)
  pull(3, 'closed', third)
  tell([], (forge) => forge.ping())
  git.git('mv', 'prompts/q.md', 'prompts/moved.md')
  land(git.commit('Move'))
  pull(2, 'updated', work(2, { 'prompts/new.md': text('new', 2) }, ada), { commitCount: 2 })
  pull(3, 'reopened', third)
  merge(2, 2)
  pull(3, 'labeled', third)
  pull(3, 'closed', third)
  land(git.commit('Directly', { 'prompts/moved.md': text('q', 4) }))
  git.commit('The first of two', { 'prompts/moved.md': text('q', 5) })
  land(git.commit('The second of two', { 'prompts/moved.md': text('q', 6), 'prompts/p.md': text('p', 4) }))

  // The remote has all commits from the start; only the names that lead to them come one by one.
  const commits = new Set(happenings.flatMap(({ refs }) => refs.map(([, commit]) => commit)))
  git.push(...[...commits].map((commit) => `${commit}:refs/all/${commit}`))
  return { git, happenings }
}

/** Enough lines that git sees what changed, and where. */
function text(name: string, version: number): string {
  return `${Array.from({ length: 20 }, (_, line) => `${name} ${line}`).join('\n')}\nversion ${version}\n`
}
