import assert from 'node:assert/strict'
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, test } from 'node:test'
import type { GitRepository } from '../../../testing/git-repository.ts'
import { ensureMirror, type Mirror } from '../../src/git/mirror.ts'
import { readPullRows, readPullTips } from '../../src/git/pull-tips.ts'
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

  test('the newest commits of a branch are read in their order, and no files are left behind', async () => {
    const { git, heads } = createHeads()
    const mirror = await mirrorOf(git)
    const rows = new Map<string, string[]>()
    await readPullRows(mirror, [heads[2] as string], (head, row) => {
      rows.set(
        head,
        row.map(({ sha }) => sha),
      )
    })
    assert.deepEqual(rows.get(heads[2] as string)?.slice(0, 3), heads.toReversed())
    assert.equal(existsSync(join(mirror.path, 'pull-rows')), false)
  })
})
