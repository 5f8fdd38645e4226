import { ada, bob, GitRepository, web } from './git-repository.ts'
import type { ForgeDeliveries } from './payloads/deliveries.ts'
import type { Delivery, PullFacts } from './payloads/facts.ts'

/** An event at a forge: refs that change, and the delivery that reports it. */
export interface ForgeEvent {
  refs: [ref: string, commit: string][]
  delivery(forge: ForgeDeliveries): Delivery
}

export interface BusyRepository {
  git: GitRepository
  events: ForgeEvent[]
}

/**
 * A GitHub repository with twenty events to come: pushes, and three pull requests that are opened, updated, merged (by `merge`,
 * `squash` or `rebase`), closed and reopened. Its remote is in the state before the first of them.
 */
export function busyRepository(mergeMethod: 'merge' | 'squash' | 'rebase'): BusyRepository {
  const git = new GitRepository()
  const events: ForgeEvent[] = []
  const start = git.commit('Start', { 'prompts/p.md': text('p', 0), 'prompts/q.md': text('q', 0) })
  git.push()
  let tip = start
  let minute = 0

  const add = (refs: ForgeEvent['refs'], delivery: ForgeEvent['delivery']) => events.push({ refs, delivery })

  function push(branch: string, before: string | null, after: string): void {
    const refs: ForgeEvent['refs'] = [[`refs/heads/${branch}`, after]]
    add(refs, (forge) => forge.push({ branch, before, after, commits: [{ sha: after }] }))
  }

  function pushMain(after: string): void {
    push('main', tip, after)
    tip = after
  }

  function pull(number: number, action: PullFacts['action'], head: string, facts: Partial<PullFacts> = {}): void {
    const openedAt = `2026-11-02T0${number}:00:00Z`
    minute += 1
    const at = action === 'opened' ? openedAt : `2026-11-02T12:${String(minute).padStart(2, '0')}:00Z`
    const report = { action, number, head, headBranch: `work-${number}`, openedAt, at, ...facts }
    add([[`refs/pull/${number}/head`, head]], (forge) => forge.pull(report))
  }

  function commitTo(number: number, files: Record<string, string>, author = bob): string {
    const branch = `work-${number}`
    if (git.git('branch', '--list', branch) === '') git.switchTo(branch, 'main')
    else git.switchTo(branch)
    const commit = git.commit(`Work on ${number}`, files, { author })
    git.switchTo('main')
    return commit
  }

  function merge(number: number, commitCount: number): void {
    const head = git.head(`work-${number}`)
    const landing = landingOf(number)
    pushMain(landing)
    pull(number, 'merged', head, { mergeCommit: landing, commitCount })
  }

  function landingOf(number: number): string {
    const branch = `work-${number}`
    if (mergeMethod === 'merge')
      return git.merge(branch, `Merge pull request #${number} from acme/${branch}`, { committer: web })
    if (mergeMethod === 'squash') return git.squash(branch, `Work (#${number})`, { committer: web, author: bob })
    return git.rebase(branch, { committer: web }).at(-1) as string
  }

  pushMain(git.commit('Directly', { 'prompts/p.md': text('p', 1) }))
  const first = commitTo(1, { 'prompts/q.md': text('q', 1) })
  push('work-1', null, first)
  pull(1, 'opened', first)
  pushMain(git.commit('Directly', { 'prompts/p.md': text('p', 2) }, { author: bob }))
  const second = commitTo(1, { 'prompts/q.md': text('q', 2) }, ada)
  pull(1, 'updated', second, { commitCount: 2 })
  const other = commitTo(2, { 'prompts/p.md': text('p', 3), 'prompts/new.md': text('new', 1) })
  pull(2, 'opened', other)
  merge(1, 2)
  const third = commitTo(3, { 'prompts/q.md': text('q', 3) })
  pull(3, 'opened', third)
  pull(3, 'closed', third)
  add([], (forge) => forge.ping())
  git.git('mv', 'prompts/q.md', 'prompts/moved.md')
  pushMain(git.commit('Move'))
  pull(2, 'updated', commitTo(2, { 'prompts/new.md': text('new', 2) }, ada), { commitCount: 2 })
  pull(3, 'reopened', third)
  merge(2, 2)
  pull(3, 'labeled', third)
  pull(3, 'closed', third)
  pushMain(git.commit('Directly', { 'prompts/moved.md': text('q', 4) }))
  git.commit('The first of two', { 'prompts/moved.md': text('q', 5) })
  pushMain(git.commit('The second of two', { 'prompts/moved.md': text('q', 6), 'prompts/p.md': text('p', 4) }))

  // The remote has all commits from the start; only the refs that point at them change with each event.
  const commits = new Set(events.flatMap(({ refs }) => refs.map(([, commit]) => commit)))
  git.push(...[...commits].map((commit) => `${commit}:refs/all/${commit}`))
  return { git, events }
}

/** Enough lines that git recognises a change as one, and a moved file as moved. */
function text(name: string, version: number): string {
  return `${Array.from({ length: 20 }, (_, line) => `${name} ${line}`).join('\n')}\nversion ${version}\n`
}
