import assert from 'node:assert/strict'
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, test } from 'node:test'
import { GitHttpServer } from '../../../testing/git-http.ts'
import type { GitRepository } from '../../../testing/git-repository.ts'
import { createBranchBudget } from '../../src/follow/branch-budget.ts'
import { ensureMirror, fetchBranch, type Mirror } from '../../src/git/mirror.ts'
import { type PullBranch, readPullBranches, readPullTips } from '../../src/git/pull-tips.ts'
import { gitRuns } from '../../src/git/run.ts'
import { createFolder, createRemote, megabyte, remoteAt } from './git-environment.ts'

/** An empty mirror of the repository. */
async function mirrorOf(git: GitRepository): Promise<Mirror> {
  const remote = { ...remoteAt(git.remote), allowLocal: true }
  const mirror = { path: join(createFolder(), 'mirror.git'), remote, sizeLimit: 1_000 * megabyte }
  await ensureMirror(mirror, git.head())
  return mirror
}

async function readTips(mirror: Mirror, shas: string[]): Promise<string[]> {
  const found: string[] = []
  await readPullTips(mirror, shas, ({ sha }) => found.push(sha))
  return found
}

function createHeads(): { git: GitRepository; heads: string[] } {
  const git = createRemote({ 'a.md': 'a\n' })
  const heads = [1, 2, 3].map((number) => git.commit(`Change ${number}`, { 'a.md': `${number}\n` }))
  git.push('HEAD:refs/pull/3/head')
  return { git, heads }
}

describe('Heads of pull requests', () => {
  test('what a sync does not get to is left for the next one, from the newest on, and every sync gets further', () => {
    const first = createBranchBudget(null, 10)
    assert.deepEqual(first.inOrder([3, 9, 7]), [9, 7, 3])
    assert.equal(first.unreadBelow(), null)
    first.leave([7, 3])
    assert.equal(first.unreadBelow(), 8)
    const second = createBranchBudget(8, 10)
    assert.deepEqual(second.inOrder([3, 9, 7]), [7, 3, 9], 'those that were read before come last')
    second.leave([9])
    assert.equal(second.unreadBelow(), null)
    second.leave([7])
    assert.equal(second.unreadBelow(), 7)
  })

  test('heads that are not read because git fails too often are returned', async () => {
    const { git, heads } = createHeads()
    const mirror = await mirrorOf(git)
    const gone = Array.from({ length: 64 }, (_, i) => i.toString(16).padStart(40, 'f'))
    const unread = await readPullTips(mirror, [...gone, ...heads], () => {})
    assert.ok(unread.length > 0 && unread.length < gone.length)
    assert.deepEqual(unread.slice(-heads.length), heads)
  })

  test('heads are fetched once, without their files, and with their parents', async () => {
    const { git, heads } = createHeads()
    const mirror = await mirrorOf(git)
    const parents = new Map<string, string[]>()
    await readPullTips(mirror, heads, (tip) => parents.set(tip.sha, tip.parents))
    assert.deepEqual([...parents.keys()].sort(), heads.toSorted())
    assert.deepEqual(parents.get(heads[1] as string), [heads[0]])
    const objects = join(mirror.path, 'pull-tips')
    const counted = git.git(`--git-dir=${objects}`, 'count-objects', '-v')
    assert.match(counted, /^count: 0$/m)
    assert.match(counted, /^in-pack: 3$/m)
    git.remove()
    assert.deepEqual((await readTips(mirror, heads)).sort(), heads.toSorted())
  })

  test('heads are fetched with their files from a server that fails to leave them out although it announces to', async () => {
    const { git, heads } = createHeads()
    const server = await new GitHttpServer().start()
    server.folders.set('/acme/prompts.git', git.remote)
    server.hasBrokenFilter = true
    const mirror = await mirrorOf(git)
    const remote = { ...remoteAt(server.url('/acme/prompts.git')), allowHttp: true, allowPrivate: true }
    assert.deepEqual((await readTips({ ...mirror, remote }, heads)).sort(), heads.toSorted())
    const start = await fetchBranch(mirror, 'main')
    const branches: [string, number][] = []
    await readPullBranches({ ...mirror, remote }, start, heads.slice(2), (head, { commits }) => {
      branches.push([head, commits.length])
    })
    assert.deepEqual(branches, [[heads[2], 3]])
  })

  test('a head that the server does not have costs no other, and is not fetched again', async () => {
    const { git, heads } = createHeads()
    const mirror = await mirrorOf(git)
    const gone = 'f'.repeat(40)
    assert.deepEqual((await readTips(mirror, [...heads, gone])).sort(), heads.toSorted())
    const { failed } = gitRuns
    assert.deepEqual((await readTips(mirror, [...heads, gone])).sort(), heads.toSorted())
    assert.equal(gitRuns.failed, failed)
  })

  test('heads are fetched again after a fetch that was killed', async () => {
    const { git, heads } = createHeads()
    const mirror = await mirrorOf(git)
    await readTips(mirror, heads.slice(0, 1))
    const settings = join(mirror.path, 'pull-tips', 'config')
    writeFileSync(settings, `${readFileSync(settings)}[remote "origin"]\n\tpartialclonefilter = tree:0\n`)
    assert.deepEqual((await readTips(mirror, heads)).sort(), heads.toSorted())
  })

  test('the commits of a branch are read in their order, with the commit that it began at, and no files are left behind', async () => {
    const { git, heads } = createHeads()
    const mirror = await mirrorOf(git)
    const [start = '', ...own] = heads
    git.push(`${start}:refs/heads/main`)
    await fetchBranch(mirror, 'main')
    const branches = new Map<string, PullBranch>()
    await readPullBranches(mirror, start, own, (head, branch) => branches.set(head, branch))
    const last = branches.get(own[1] as string)
    assert.deepEqual(
      last?.commits.map(({ sha }) => sha),
      own.toReversed(),
    )
    assert.deepEqual(last?.bases, [start])
    assert.equal(existsSync(join(mirror.path, 'pull-rows')), false)
  })
})
