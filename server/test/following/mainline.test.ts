import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { LineHistory, type LineOptions } from '../../../testing/line-history.ts'
import { gitRuns } from '../../src/git/run.ts'

const own = 'github.com:acme/prompts'
const github: LineOptions = { url: 'https://github.com/acme/prompts.git' }

interface Fork {
  history: LineHistory
  root: number
  /** The newest commits of local work and of the default branch, which both began at the root. */
  local: number
  shared: number
}

/** Local work of two commits, and as many on the default branch in the meantime. */
function fork(options: LineOptions = github): Fork {
  const history = new LineHistory(options)
  const root = history.commit('Root')
  const local = history.commits(['Mine 1', 'Mine 2'], root)
  const shared = history.commits(['Shared 1', 'Shared 2'], root)
  return { history, root, local, shared }
}

async function isCrossed({ history, local, shared }: Fork, message: string): Promise<boolean> {
  const merge = history.commit(message, local, shared)
  const line = await history.write().follow(merge)
  assert.ok(line.includes(local) !== line.includes(shared))
  return line.includes(shared)
}

describe('The line of the default branch', () => {
  test('crosses a merge of the default branch into local work, however git wrote it', async () => {
    for (const message of [
      `Merge branch 'main' of ${own}`,
      `Merge branch 'main' of ${own} into main`,
      "Merge branch 'main' of https://github.com/Acme/Prompts.git into main",
      "Merge branch 'main' of ssh://git@github.com:22/acme/prompts",
      "Merge branch 'main' of git@github.com:acme/prompts.git into feature",
      "Merge remote-tracking branch 'origin/main'",
      "Merge remote-tracking branch 'origin/main' into main",
      "Merge remote branch 'origin/main'",
      "Merge commit 'origin/main'",
      "Merge branch 'main' into feature",
      "Merge branch 'main'",
    ]) {
      assert.equal(await isCrossed(fork(), message), true, message)
    }
  })

  test('crosses it under the former name of the default branch', async () => {
    for (const message of [
      `Merge branch 'master' of ${own}`,
      "Merge remote-tracking branch 'origin/master'",
      "Merge branch 'master' into feature",
    ]) {
      assert.equal(await isCrossed(fork(), message), true, message)
    }
  })

  test('does not cross a merge of another branch, or of an old default branch into the new one', async () => {
    for (const message of [
      "Merge branch 'feature'",
      "Merge branch 'develop'",
      "Merge branch 'develop' into main",
      "Merge branch 'master' into main",
      "Merge branch 'main-fixes' into main",
      "Merge branch 'upstream:main' into main",
      'Catch up',
    ]) {
      assert.equal(await isCrossed(fork(), message), false, message)
    }
    const gitflow = { ...github, branch: 'develop' }
    assert.equal(await isCrossed(fork(gitflow), "Merge branch 'master' into develop"), false)
    assert.equal(await isCrossed(fork(gitflow), `Merge branch 'master' of ${own}`), false)
  })

  test("does not leave for another repository's branch of the same name", async () => {
    for (const message of [
      "Merge branch 'main' of https://github.com/stranger/prompts",
      "Merge branch 'master' of git://example.com/prompts.git",
      "Merge branch 'main' of https://github.com/acme/prompts-docs",
      "Merge branch 'main' of github.com:acme/prompts.evil",
      "Merge remote-tracking branch 'upstream/main'",
      "Merge remote-tracking branch 'stranger/main'",
    ]) {
      assert.equal(await isCrossed(fork(), message), false, message)
    }
  })

  test("does not leave for another project's history, however often it is merged", async () => {
    const history = new LineHistory(github)
    let project = history.commit('Another root')
    let tip = history.commit('Root')
    const line = [tip]
    for (let i = 0; i < 3; i++) {
      project = history.commit(`Part ${i}`, project)
      tip = history.commit(`Merge branch 'main' of ${own}`, tip, project)
      line.push(tip)
    }
    assert.deepEqual(await history.write().follow(tip), line)
  })

  test('does not cross the merge of a pull request, whether the forge or a person wrote the message', async () => {
    const messages: [LineOptions, string][] = [
      [github, "Merge pull request #7 from stranger/main\n\nMerge branch 'main' of github.com:acme/prompts"],
      [github, `Merge branch 'main' of ${own} (#7)`],
      [{ forge: 'gitlab' }, "Merge branch 'main' into 'main'\n\nBe kinder\n\nSee merge request acme/prompts!7"],
      [{ forge: 'gitlab' }, "Merge branch 'main' into feature\n\nSee merge request acme/prompts!7"],
      [{ forge: 'gitlab' }, "Merge branch 'main' into 'main'"],
      [{ forge: 'bitbucket' }, 'Merged in stranger/prompts/main (pull request #7)'],
    ]
    for (const [options, message] of messages) assert.equal(await isCrossed(fork(options), message), false, message)
    const { history, root } = fork()
    const tip = history.commits(['One', 'Two'], root)
    const byHand = history.commit(`Merge branch 'main' of ${own}`, tip, history.pull(7, root))
    assert.ok((await history.write().follow(byHand)).includes(tip))
  })

  test('prefers the side on which pull requests landed to the message', async () => {
    const { history, root, local, shared } = fork()
    const landed = history.mergedPull(2, history.mergedPull(1, root))
    const staying = history.commit(`Merge branch 'main' of ${own}`, landed, shared)
    assert.ok((await history.write().follow(staying)).includes(landed))
    // A former URL.
    const crossing = history.commit("Merge branch 'main' of github.com:acme/old-name", local, landed)
    assert.ok((await history.write().follow(crossing)).includes(landed))
    const squashed = history.commit('Shorter (#3)', history.pull(3, root) && root)
    const other = history.commit("Merge branch 'main' of github.com:acme/old-name", local, squashed)
    assert.ok((await history.write().follow(other)).includes(squashed))
  })

  test('local work with pull requests that were merged by hand is left at the next pull', async () => {
    const { history, root, shared } = fork()
    const byHand = history.commit('Merged by hand', root, history.pull(1, root))
    const merge = history.commit(`Merge branch 'main' of ${own}`, byHand, shared)
    const line = await history.write().follow(merge)
    assert.deepEqual([line.includes(shared), line.includes(byHand)], [true, false])
  })

  test('the branch of a feature is left although pull requests landed there, unless nearly all of them did', async () => {
    for (const [onFeature, onMain, isCrossed] of [
      [3, 0, true],
      [6, 2, true],
      [6, 1, false],
    ] as const) {
      const { history, local, shared } = fork()
      const landed = (count: number, from: number, number: number) =>
        Array.from({ length: count }).reduce<number>((last, _, i) => history.mergedPull(number + i, last), from)
      const [feature, main] = [landed(onFeature, local, 1), landed(onMain, shared, 101)]
      const merge = history.commit("Merge branch 'main' into feature", feature, main)
      const line = await history.write().follow(merge)
      assert.equal(line.includes(main), isCrossed, `${onFeature} and ${onMain} pull requests`)
    }
  })

  test("the branch of a fork that a pull request brought up to date is left for the repository's own", async () => {
    for (const [source, isCrossed] of [
      ['acme/main', true],
      ['acme/feature', false],
      ['bob/main', false],
    ] as const) {
      const { history, local, shared } = fork()
      const main = history.mergedPull(7, shared)
      const tip = history.commit(`Merge pull request #1 from ${source}\n\nUpdate`, local, main)
      const line = await history.write().follow(tip)
      assert.equal(line.includes(main), isCrossed, source)
    }
  })

  test('once a URL has turned out to be a former one of the repository, its other merges are crossed too', async () => {
    const history = new LineHistory(github)
    const pulled = "Merge branch 'main' of github.com:acme/old-name"
    const root = history.commit('Root')
    const line = [root]
    let tip = root
    for (const landing of [false, true, false]) {
      const local = history.commit('Mine', tip)
      const shared = landing ? history.mergedPull(1, tip) : history.commit('Shared', tip)
      tip = history.commit(pulled, local, shared)
      line.push(shared, tip)
    }
    assert.deepEqual(await history.write().follow(tip), line)
  })

  test('an imported history is followed under the names and the URL that it had', async () => {
    const history = new LineHistory(github)
    const root = history.commit('Root')
    const local = history.commit('Theirs', root)
    const shared = history.commit('Merge pull request #101 from them/branch', root, history.commit('Side', root))
    const swapped = history.commit("Merge branch 'dev' of github.com:them/origin into dev", local, shared)
    let tip = swapped
    for (let i = 102; i < 114; i++) {
      tip = history.commit(`Merge pull request #${i} from them/branch`, tip, history.commit('Side', tip))
    }
    tip = history.mergedPull(1, tip)
    const line = await history.write().follow(tip)
    assert.deepEqual([line.includes(shared), line.includes(local)], [true, false])
  })

  test('an imported history stays on `master` where another branch was merged into it', async () => {
    const history = new LineHistory(github)
    const root = history.commit('Root')
    const master = history.commit('Released', root)
    const dev = history.commit('Merge pull request #101 from them/branch', root, history.commit('Side', root))
    // Without a target in the message, the target was `master`.
    let tip = history.commit("Merge branch 'dev' of github.com:them/origin", master, dev)
    for (let i = 102; i < 114; i++) {
      tip = history.commit(`Merge pull request #${i} from them/branch`, tip, history.commit('Side', tip))
    }
    tip = history.mergedPull(1, tip)
    const line = await history.write().follow(tip)
    assert.deepEqual([line.includes(master), line.includes(dev)], [true, false])
  })

  test('a fork that merges from where it was forked stays on its own branch', async () => {
    for (const source of ['of https://github.com/upstream/prompts', null]) {
      const history = new LineHistory(github)
      let upstream = history.commit('Root')
      let tip = history.commit('Ours 0', upstream)
      const line = [upstream, tip]
      for (let i = 1; i < 15; i++) {
        for (let n = 0; n < 3; n++) {
          const side = history.commit('Side', upstream)
          upstream = history.commit(`Merge pull request #${1_000 * i + n} from x/y`, upstream, side)
        }
        const message =
          source === null ? "Merge remote-tracking branch 'upstream/main'" : `Merge branch 'main' ${source}`
        tip = history.commit(message, tip, upstream)
        line.push(tip)
        tip = i % 3 === 0 ? history.mergedPull(i, tip) : history.commit(`Ours ${i}`, tip)
        line.push(tip)
      }
      assert.deepEqual(await history.write().follow(tip), line)
    }
  })

  test('a pull request with misleading messages does not steer it', async () => {
    const history = new LineHistory(github)
    const root = history.commit('Root')
    const trunk = history.commits(['One', 'Two', 'Three'], root)
    const decoy = history.commits(['Decoy 1', 'Decoy 2'], root)
    const side = history.commit(`Merge branch 'main' of ${own}`, history.commit('Stranger', root), decoy)
    const head = history.commit(`Merge branch 'main' of ${own}`, side, trunk)
    const merge = history.commit("Merge branch 'fix' of github.com:stranger/prompts", trunk, head)
    const tip = history.commit('After', merge)
    assert.deepEqual(await history.write().follow(tip), [root, trunk - 2, trunk - 1, trunk, merge, tip])
  })

  test('goes through every commit that was recorded, whatever the messages say', async () => {
    const { history, local, shared } = fork()
    const catchUp = history.commit('Catch up', local, shared)
    const misleading = history.commit(`Merge branch 'main' of ${own}`, catchUp, history.commits(['Decoy'], shared))
    const tip = history.commit('After', misleading)
    const written = history.write()
    await written.follow(shared)
    await written.follow(catchUp)
    const line = await written.follow(tip)
    for (const commit of [shared, catchUp, misleading, tip]) assert.ok(line.includes(commit))
    assert.ok(!line.includes(local))
  })

  test('takes a number of git runs that grows with the crossings, not with their distance', async () => {
    const runsWith = async (crossings: number, commits: number) => {
      const history = new LineHistory(github)
      let tip = history.commit('Root')
      for (let i = 0; i < crossings; i++) {
        const local = history.commit('Mine', tip)
        const shared = history.commits(
          Array.from({ length: commits }, (_, n) => `Shared ${n}`),
          tip,
        )
        tip = history.commit(`Merge branch 'main' of ${own}`, local, shared)
      }
      const written = history.write()
      const before = gitRuns.started
      await written.follow(tip)
      return gitRuns.started - before
    }
    const [few, more, longer] = [await runsWith(2, 2), await runsWith(6, 2), await runsWith(6, 50)]
    assert.equal(more, longer)
    assert.ok(more - few <= 4 * 4, `${few} runs for 2 crossings, ${more} for 6`)
  })
})
