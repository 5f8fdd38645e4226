import assert from 'node:assert/strict'
import { truncateSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { setTimeout as pause } from 'node:timers/promises'
import { onOneEngine } from '../../../testing/engines.ts'
import { writeRef } from '../../../testing/git-checkout.ts'
import { GitRepository } from '../../../testing/git-repository.ts'
import { commitNestedTrees, commitRaw } from '../../../testing/hostile-trees.ts'
import { connectedScenario, type Scenario, shortSha } from '../../../testing/scenario.ts'
import { useService } from '../../../testing/service.ts'
import { readDiff, readLog } from '../../src/git/log.ts'
import { readMainline } from '../../src/git/mainline.ts'
import { gitOutput, limitGitMemory } from '../../src/git/run.ts'
import { commitPull } from './pull-branch.ts'

const p = 'prompts/p.md'
const megabyte = 1024 * 1024
// Git needs 30 MB to list them.
const manyPaths = { width: 300, depth: 2 }
const everything = { pathspecs: [':(glob)**'], matches: null, similarity: 100, maxFiles: 100, isKnown: () => false }

/** Opens a pull request with this many paths in nested trees, which also changes prompts/p.md. */
async function openNestedPull(s: Scenario, shape: { width: number; depth: number }): Promise<string> {
  const head = commitNestedTrees(s.git, { ...shape, parent: s.git.head('main'), text: 'hostile\n' })
  writeRef(s.git.remote, 'refs/pull/7/head', head)
  await s.deliver(s.forge.pull({ action: 'opened', number: 7, head }))
  return head
}

async function detailsOf(s: Scenario): Promise<{ too_large: boolean; message: string; commit_sha: string }> {
  const id = await s.promptId(p)
  const newest = (await s.historyOf(id)).at(-1)
  return (await s.get(`/prompts/${id}/history/${newest?.id}`)).data as never
}

// Slow: lets git reach its limits of memory and time.
onOneEngine('Changes that exceed the limits', (engine) => {
  const service = useService(engine)

  test('a pull request with too many files is recorded as too large, for the prompts that it changes', async () => {
    const s = await connectedScenario(service)
    const head = await openNestedPull(s, { width: 100, depth: 2 })
    assert.deepEqual((await s.summary()).slice(1), [`pr_opened ${shortSha(head)} #7`])
    assert.equal((await detailsOf(s)).too_large, true)
    const [pull] = await service.store.facts.pulls(s.repository, [7])
    assert.ok((pull?.heads[0]?.files.length ?? 0) <= 1_001, 'files beyond the limit were stored')
    const [delivery] = await service.store.deliveries.list(s.repository, 1)
    assert.equal(delivery?.state, 'done')
    assert.match(delivery?.error ?? '', /pull request 7 is too large/)
  })

  test('a pull request with too many paths for the memory limit is recorded for its prompts and does not stop the default branch', async () => {
    const s = await connectedScenario(service)
    limitGitMemory(20 * megabyte)
    const head = await openNestedPull(s, manyPaths).finally(() => limitGitMemory(96 * megabyte))
    assert.deepEqual((await s.summary()).slice(1), [`pr_opened ${shortSha(head)} #7`])
    assert.equal((await detailsOf(s)).too_large, true)
    const sha = s.git.commit('Next', { [p]: 'next\n' })
    await s.push()
    await s.advance(20)
    assert.ok((await s.summary()).includes(`deployed ${shortSha(sha)}`), 'the default branch was not followed')
  })

  test('a commit whose message is cut is recorded as too large, and one whose message just fits is not', async () => {
    const s = await connectedScenario(service)
    for (const [length, isTooLarge] of [
      [20_000, false],
      [20_001, true],
    ] as const) {
      s.git.commit('m'.repeat(length), { [p]: `${length}\n` })
      await s.push()
      const { too_large, message } = await detailsOf(s)
      assert.deepEqual([too_large, message.length], [isTooLarge, 20_000])
    }
  })

  test('a pull request that git cannot fetch within its memory limit is recorded as too large and not fetched again', async () => {
    const s = await connectedScenario(service)
    const tree = s.git.head('main^{tree}')
    const head = commitRaw(s.git.remote, tree, s.git.head('main'), `Huge\n\n${'x'.repeat(50 * megabyte)}`)
    writeRef(s.git.remote, 'refs/pull/7/head', head)
    limitGitMemory(40 * megabyte)
    try {
      await s.deliver(s.forge.pull({ action: 'opened', number: 7, head }))
    } finally {
      limitGitMemory(96 * megabyte)
    }
    const [delivery] = await service.store.deliveries.list(s.repository, 1)
    assert.equal(delivery?.state, 'done')
    assert.match(delivery?.error ?? '', /pull request 7 is too large/)
    const [pull] = await service.store.facts.pulls(s.repository, [7])
    assert.deepEqual(pull?.heads, [{ sha: head, files: [], traces: [], tooLarge: true }])
  })

  test('any number of open pull requests is read in small batches, and a few reported ones at a time', async () => {
    const s = await connectedScenario(service)
    const numbers = Array.from({ length: 21 }, (_, i) => i + 1)
    const heads = numbers.map((number) => commitPull(s, number, { [p]: `${number}\n` }))
    await s.deliver(...numbers.map((number, i) => s.forge.pull({ action: 'opened', number, head: heads[i] as string })))
    assert.equal((await s.deliveryStates()).filter((state) => state === 'pending').length, 1)
    await s.sync()
    assert.deepEqual(new Set(await s.deliveryStates()), new Set(['done']))
    const batches = await Array.fromAsync(service.store.facts.unsettledPulls(s.repository))
    assert.deepEqual(
      batches.flat().map(({ number }) => number),
      numbers,
    )
    assert.ok(
      batches.every((batch) => batch.length <= 16),
      'a batch has more than 16 pull requests',
    )
  })
})

test('beyond the limit of files, git log and git diff keep only known files', async () => {
  const repository = new GitRepository()
  const first = repository.commit('First', { 'a.md': 'a\n' })
  const files = Object.fromEntries(
    Array.from({ length: 20 }, (_, i) => [`f${String(i).padStart(2, '0')}.md`, `${i}\n`]),
  )
  const second = repository.commit('Second', files)
  repository.push()
  const options = { ...everything, maxFiles: 3, isKnown: (path: string) => path === 'f17.md' }
  const kept = ['f00.md', 'f01.md', 'f02.md', 'f17.md']
  const { files: changed, tooLarge } = await readDiff(repository.remote, first, second, options)
  assert.deepEqual([changed.map(({ path }) => path), tooLarge], [kept, true])
  const [commit] = await Array.fromAsync(readLog(repository.remote, [second], options))
  assert.deepEqual([commit?.files.map(({ path }) => path), commit?.tooLarge], [kept, true])
})

test('commits with huge messages are read without them if git takes too much memory, and those after them as usual', async () => {
  const repository = new GitRepository()
  const start = repository.commit('First', { [p]: 'first\n' })
  for (let i = 0; i < 5; i++) repository.commit(`Change ${i}`, { [p]: `${i}\n` })
  repository.push()
  const trees = repository.inRemote('log', '--reverse', '--format=%T', `${start}..main`).split('\n')
  const shas: string[] = []
  for (const [i, tree] of trees.entries()) {
    const message = i === 4 ? 'Last' : `Huge ${i}\n\n${'x'.repeat(10 * megabyte)}`
    shas.push(commitRaw(repository.remote, tree, shas.at(-1) ?? start, message))
  }
  const range = { from: start, to: shas.at(-1) as string }
  const read = async () => Array.fromAsync(readMainline(repository.remote, range, everything))
  for (const limit of [25, 50]) {
    limitGitMemory(limit * megabyte)
    try {
      const commits = await read()
      assert.deepEqual(
        commits.map(({ sha }) => sha),
        shas,
      )
      assert.ok(commits.every(({ files }) => files[0]?.path === p))
      assert.deepEqual(
        commits.map(({ tooLarge }) => tooLarge),
        shas.map((_, i) => i < 4),
      )
      assert.equal(commits.at(-1)?.message, 'Last')
      assert.ok(commits.every(({ message }) => message.length <= 64 * 1024))
    } finally {
      limitGitMemory(96 * megabyte)
    }
  }
})

test('git is killed when it takes more memory than the limit, which grows with the size of the repository', async () => {
  const repository = new GitRepository()
  const parent = repository.commit('First', { [p]: 'a\n' })
  repository.push()
  const sha = commitNestedTrees(repository, { ...manyPaths, parent, text: 'x\n' })
  const diff = () => readDiff(repository.remote, parent, sha, everything)
  const message = 'git diff: needs more than 20 MB of memory (GIT_MEMORY_LIMIT)'
  limitGitMemory(20 * megabyte)
  try {
    await assert.rejects(diff(), { name: 'GitError', message })
    const pack = join(repository.remote, 'objects/pack/tmp_pack_fetched')
    writeFileSync(pack, '')
    truncateSync(pack, 2_000 * megabyte)
    assert.equal((await diff()).tooLarge, true)
  } finally {
    limitGitMemory(96 * megabyte)
  }
})

test('a long message is cut while it is read', async () => {
  const repository = new GitRepository()
  repository.commit('First', { 'a.md': 'a\n' })
  repository.push()
  const tree = repository.inRemote('hash-object', '-t', 'tree', '-w', '/dev/null')
  const sha = commitRaw(repository.remote, tree, repository.head(), `Long\n\n${'é'.repeat(megabyte)}`)
  const [commit] = await Array.fromAsync(readLog(repository.remote, ['--no-walk', sha], everything))
  assert.equal(commit?.tooLarge, true)
  assert.ok((commit?.message.length ?? 0) <= 64 * 1024, 'the message was kept')
})

test('the time limit of git does not include the time that its reader takes', async () => {
  const repository = new GitRepository()
  repository.commit('First', { 'big.txt': 'x'.repeat(8 * megabyte) })
  repository.push()
  // Enough for git itself on a slow machine, where it runs with a low priority.
  const timeoutMs = 5_000
  let bytes = 0
  let isFirst = true
  for await (const chunk of gitOutput(['cat-file', 'blob', 'main:big.txt'], { mirror: repository.remote, timeoutMs })) {
    if (isFirst) await pause(1.1 * timeoutMs)
    isFirst = false
    bytes += chunk.length
  }
  assert.equal(bytes, 8 * megabyte)
})
