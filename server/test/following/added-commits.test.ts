import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { GitRepository } from '../../../testing/git-repository.ts'
import { LineHistory } from '../../../testing/line-history.ts'
import { readAddedCommits } from '../../src/git/added-commits.ts'
import { readArrivals } from '../../src/git/arrivals.ts'

/** Two branches that merge each other several times, and a third that begins before `from`. */
function tangledHistory() {
  const git = new GitRepository()
  git.commit('Root', { 'a.md': '0\n' })
  git.git('branch', 'old')
  const from = git.commit('Recorded', { 'a.md': '1\n' })
  git.git('branch', 'side')
  for (let i = 0; i < 3; i++) {
    git.commit(`Main ${i}`, { 'a.md': `main ${i}\n` })
    git.git('switch', '--quiet', 'side')
    git.commit(`Side ${i}`, { 'b.md': `side ${i}\n` })
    git.git('switch', '--quiet', 'main')
    git.git('merge', '--quiet', '--no-ff', '--message', `Merge ${i}`, 'side')
    if (i === 1) git.git('push', '--quiet', '.', 'main:side')
  }
  git.git('switch', '--quiet', 'old')
  git.commit('Old', { 'c.md': 'old\n' })
  git.git('switch', '--quiet', 'main')
  git.git('merge', '--quiet', '--no-ff', '--message', 'Merge the old', 'old')
  git.push()
  return {
    git,
    from,
    tip: git.head(),
    list: (...args: string[]) =>
      git
        .git('rev-list', ...args)
        .split('\n')
        .filter(Boolean),
  }
}

describe('The commits that a push added', () => {
  test('are those that git lists, between any two of them', async () => {
    const { git, from, tip, list } = tangledHistory()
    const added = await readAddedCommits(git.remote, from, tip)
    assert.ok(added !== null)
    assert.deepEqual(added.shas, list(tip, `^${from}`))
    assert.deepEqual(
      added.line.map(({ sha }) => sha),
      list('--first-parent', tip, `^${from}`),
    )
    assert.equal(added.isLinear, false)
    const shas: readonly string[] = added.shas
    let unknown = 0
    for (const before of list(tip)) {
      for (const after of shas) {
        const found: string[] | null = added.between(before, after)
        if (found === null) unknown++
        else {
          assert.deepEqual(new Set(found), new Set(list(after, `^${before}`)), `${before}..${after}`)
          assert.deepEqual(
            found,
            shas.filter((sha) => found.includes(sha)),
            'newest first',
          )
        }
      }
    }
    // The root and the old branch, which do not contain the commit that was recorded.
    assert.equal(unknown, 2 * added.shas.length)
  })

  test('are all commits if none was recorded, and each arrived where git shows it', async () => {
    const { git, tip, list } = tangledHistory()
    const all = await readAddedCommits(git.remote, null, tip)
    assert.ok(all !== null)
    assert.deepEqual(all.shas, list(tip))
    for (const before of all.shas) {
      assert.deepEqual(new Set(all.between(before, tip)), new Set(list(tip, `^${before}`)))
    }
    assert.equal(all.between('f'.repeat(40), tip), null)
    const shas: readonly string[] = all.shas
    for (const from of [null, list('--first-parent', tip).at(-3) as string]) {
      const added = await readAddedCommits(git.remote, from, tip)
      const found = added?.arrivals()
      const expected = await readArrivals(git.remote, { from, to: tip }, new Set(shas))
      for (const sha of [...shas, 'f'.repeat(40)]) assert.equal(found?.positionOf(sha), expected.positionOf(sha))
    }
  })

  test('of each push of a backlog are found without another walk through the history', async () => {
    const history = new LineHistory()
    let last = history.commit('Root')
    for (let i = 1; i < 1_000; i++) last = history.mergedPull(i, last)
    const { path, shaOf } = history.write()
    const all = await readAddedCommits(path, null, shaOf(last))
    assert.ok(all !== null)
    const timeFor = (work: () => void) => {
      const before = process.cpuUsage()
      work()
      const { user, system } = process.cpuUsage(before)
      return user + system
    }
    const walk = timeFor(() => all.arrivals().positionOf(shaOf(last)))
    const pushes = timeFor(() => {
      for (const [i, { sha }] of all.line.slice(1).entries()) {
        assert.equal(all.between(sha, all.line[i]?.sha ?? '')?.length, 2)
      }
    })
    assert.ok(pushes < 20 * walk, `${pushes} µs for 999 pushes, ${walk} µs for one walk`)
  })

  test('are unknown if the branch no longer contains the recorded commit, or never did', async () => {
    const { git, from, tip } = tangledHistory()
    git.git('reset', '--quiet', '--hard', `${from}~1`)
    const rewritten = git.commit('Rewritten', { 'a.md': '2\n' })
    git.git('push', '--quiet', '--force', 'origin', 'main')
    assert.equal(await readAddedCommits(git.remote, from, rewritten), null)
    assert.equal(await readAddedCommits(git.remote, tip, rewritten), null)
    assert.equal(await readAddedCommits(git.remote, 'f'.repeat(40), rewritten), null)
  })
})
