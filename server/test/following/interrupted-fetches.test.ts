import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import {
  copyFileSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  truncateSync,
  utimesSync,
  writeFileSync,
} from 'node:fs'
import { dirname, join } from 'node:path'
import { describe, test } from 'node:test'
import { onOneEngine } from '../../../testing/engines.ts'
import { GitHttpServer } from '../../../testing/git-http.ts'
import type { GitRepository } from '../../../testing/git-repository.ts'
import { commitRaw } from '../../../testing/hostile-trees.ts'
import { type Scenario, shortSha } from '../../../testing/scenario.ts'
import { useService } from '../../../testing/service.ts'
import { mirrorOf } from '../../src/follow/sync-context.ts'
import { cleanUpMirror, ensureMirror, fetchBranch, fetchCommit, type Mirror } from '../../src/git/mirror.ts'
import { listRefs, readRef } from '../../src/git/refs.ts'
import { limitGitMemory } from '../../src/git/run.ts'
import { createFolder, createProgram, createRemote, megabyte, remoteAt, withEnvironment } from './git-environment.ts'
import { scenarioWithPull } from './pull-branch.ts'

const dayMs = 86_400_000

async function emptyMirror(git: GitRepository, url = git.remote): Promise<Mirror> {
  const remote = { ...remoteAt(url), allowLocal: true, allowHttp: true }
  const mirror = { path: join(createFolder(), 'mirror.git'), remote, sizeLimit: 1_000 * megabyte }
  await ensureMirror(mirror, git.head())
  return mirror
}

async function fetchedMirror(git: GitRepository, url?: string): Promise<Mirror> {
  const mirror = await emptyMirror(git, url)
  await fetchBranch(mirror, 'main')
  return mirror
}

function objectsOf(git: GitRepository, { path }: Mirror, commit: string): number {
  return git.git(`--git-dir=${path}`, 'rev-list', '--objects', commit).split('\n').length
}

describe('A mirror', () => {
  test('has a commit only with all its files, also after a fetch that broke off between them', async () => {
    const git = createRemote({ 'a.md': 'a\n' })
    const server = await new GitHttpServer().start()
    server.folders.set('/prompts.git', git.remote)
    const mirror = await fetchedMirror(git, server.url('/prompts.git'))
    const head = git.commit('Large', { 'b.md': randomBytes(megabyte) })
    git.push('HEAD:refs/pull/1/head')
    server.breakAfterBytes = megabyte / 2
    assert.equal(await fetchCommit(mirror, head, ['refs/pull/1/head']), null)
    server.breakAfterBytes = Number.POSITIVE_INFINITY
    assert.equal(await fetchCommit(mirror, head, ['refs/pull/1/head']), head)
    assert.equal(objectsOf(git, mirror, head), 6)
  })

  test('has the refs that git lists, and packs them when they are many files', async () => {
    const git = createRemote({ 'a.md': 'a\n' })
    const mirror = await fetchedMirror(git)
    const inMirror = (...args: string[]) => git.git(`--git-dir=${mirror.path}`, ...args)
    const listed = () => inMirror('for-each-ref', '--format=%(refname) %(objectname)', 'refs/kept/').split('\n')
    const read = async () => [...(await listRefs(mirror.path, 'refs/kept/'))].map((ref) => ref.join(' ')).sort()
    const first = git.head()
    const second = git.commit('Change', { 'a.md': 'b\n' })
    git.push('HEAD:refs/heads/other')
    await fetchBranch(mirror, 'other')
    const folder = join(mirror.path, 'refs/kept')
    mkdirSync(folder)
    for (let i = 0; i < 100; i++) writeFileSync(join(folder, `ref-${i}`), `${first}\n`)
    await cleanUpMirror(mirror)
    assert.equal(existsSync(join(folder, 'ref-1')), false)
    inMirror('update-ref', 'refs/kept/ref-7', second)
    inMirror('update-ref', 'refs/kept/new/ref', second)
    assert.deepEqual(await read(), listed().sort())
    assert.equal(await fetchBranch(mirror, 'main'), first)
    assert.equal(await readRef(mirror.path, 'refs/heads/none'), null)
  })

  test('is fetched into by several at once, and none of them fails', async () => {
    const git = createRemote({ 'a.md': 'a\n' })
    const mirror = await fetchedMirror(git)
    for (let i = 0; i < 3; i++) {
      const head = git.commit(`Change ${i}`, { 'a.md': `${i}\n` })
      git.push()
      const heads = await Promise.all(Array.from({ length: 6 }, () => fetchBranch(mirror, 'main')))
      assert.deepEqual(new Set(heads), new Set([head]))
    }
  })

  test('of many fetches, some of them killed or large, is combined into few packs within the memory limit', async () => {
    const git = createRemote({ 'a.md': 'a\n' })
    const mirror = await fetchedMirror(git)
    const text = (i: number) => (i < 12 ? `${i}${'a line of a large file\n'.repeat(250_000)}` : `${i}\n`)
    const commits = Array.from({ length: 60 }, (_, i) => git.commit(`Change ${i}`, { 'a.md': text(i) }))
    git.push()
    for (const commit of commits) await fetchCommit(mirror, commit, [])
    const folder = join(mirror.path, 'objects/pack')
    const packs = () => readdirSync(folder).filter((file) => file.endsWith('.pack'))
    assert.equal(packs().length, 61)
    // git locks a new pack until the refs that lead to it are written. A locked one is not combined with others.
    for (const pack of packs()) {
      const lock = join(folder, pack.replace('.pack', '.keep'))
      writeFileSync(lock, 'fetch-pack')
      utimesSync(lock, new Date(0), new Date(0))
    }
    limitGitMemory(32 * megabyte)
    try {
      await cleanUpMirror(mirror)
    } finally {
      limitGitMemory(96 * megabyte)
    }
    assert.ok(packs().length < 10, `${packs().length} packs`)
    assert.equal(objectsOf(git, mirror, git.head()), 61 * 3)
  })

  test('of a large repository in a folder is fetched, because the limit on memory grows with what git serves', async () => {
    const git = createRemote({ 'a.md': 'a\n' })
    const mirror = await fetchedMirror(git)
    const head = commitRaw(git.remote, git.head('main^{tree}'), git.head(), `Huge\n\n${'x'.repeat(50 * megabyte)}`)
    git.inRemote('update-ref', 'refs/heads/huge', head)
    limitGitMemory(40 * megabyte)
    try {
      await assert.rejects(fetchBranch(mirror, 'huge'), { message: /needs more than 40 MB of memory/ })
      const pack = join(git.remote, 'objects/pack/tmp_pack_large')
      writeFileSync(pack, '')
      truncateSync(pack, 2_000 * megabyte)
      assert.equal(await fetchBranch(mirror, 'huge'), head)
    } finally {
      limitGitMemory(96 * megabyte)
    }
  })

  test('keeps branches that are named like the leftovers of git', async () => {
    const git = createRemote({ 'a.md': 'a\n' })
    const mirror = await fetchedMirror(git)
    for (const branch of ['a.keep', 'tmp_a', 'objects/tmp_a', 'objects/pack/a.keep']) {
      git.push(`HEAD:refs/heads/${branch}`)
      await fetchBranch(mirror, branch)
      const ref = join(mirror.path, 'refs/heads', branch)
      utimesSync(ref, new Date(0), new Date(0))
      await cleanUpMirror(mirror)
      assert.equal(git.git(`--git-dir=${mirror.path}`, 'rev-parse', `refs/heads/${branch}`), git.head())
    }
  })

  test('whose first fetch broke off is still fetched with the patience of a first one', async () => {
    const git = createRemote({ 'a.md': 'a\n' })
    const mirror = await emptyMirror(git)
    writeFileSync(join(mirror.path, 'objects/pack/tmp_pack_a'), 'PACK')
    const program = join(git.git('--exec-path'), 'git')
    const { folder, PATH } = createProgram('git', `#!/bin/sh\necho "$@" >> "$0.log"\nexec ${program} "$@"\n`)
    await withEnvironment({ PATH }, () => fetchBranch(mirror, 'main'))
    assert.match(readFileSync(join(folder, 'git.log'), 'utf8'), /http\.lowSpeedTime=300 .* fetch /)
  })
})

onOneEngine('A damaged mirror', (engine) => {
  const service = useService(engine)

  test('is created again if only a pull request needs what is damaged, which is then recorded', async () => {
    const { s, head, opened } = await scenarioWithDamagedPull()
    setAge(s, 2 * dayMs)
    await assert.rejects(s.deliver(opened), /the local copy is damaged/)
    await s.advance(2)
    assert.deepEqual(await s.deliveryStates(), ['done'])
    assert.equal((await s.summary()).at(-1), `pr_opened ${shortSha(head)} #7`)
  })

  test('is not created again and again for a pull request that stays broken, which holds up no other change', async () => {
    const { s, opened } = await scenarioWithDamagedPull()
    s.git.switchTo('main')
    const commit = s.git.commit('Meanwhile', { 'prompts/q.md': 'Be short.\n' })
    s.git.push()
    await s.deliver(opened)
    assert.deepEqual(await s.deliveryStates(), ['pending'])
    assert.ok((await s.summary('prompts/q.md')).includes(`deployed ${shortSha(commit)}`))
  })

  /** A scenario whose mirror has the head of a pull request, but not its files. */
  async function scenarioWithDamagedPull() {
    const found = await scenarioWithPull(service)
    const { s, head } = found
    const object = join('objects', head.slice(0, 2), head.slice(2))
    const copy = join(mirrorPath(s), object)
    mkdirSync(dirname(copy), { recursive: true })
    copyFileSync(join(s.git.remote, object), copy)
    return found
  }
})

function mirrorPath({ service, repository }: Scenario): string {
  return mirrorOf(service.syncContext, repository).path
}

/** Makes the mirror look as if it was created this long ago. */
function setAge(scenario: Scenario, ageMs: number): void {
  const createdAt = new Date(Date.now() - ageMs)
  utimesSync(join(mirrorPath(scenario), 'HEAD'), createdAt, createdAt)
}
