import assert from 'node:assert/strict'
import { appendFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { sqlite } from '../../../testing/engines.ts'
import type { GitRepository } from '../../../testing/git-repository.ts'
import { commitRaw } from '../../../testing/hostile-trees.ts'
import { connectedScenario, type Scenario } from '../../../testing/scenario.ts'
import { TestService } from '../../../testing/service.ts'
import { collectPullNumbers } from '../../src/git/pull-numbers.ts'
import { readPullRefs } from '../../src/git/pull-refs.ts'
import { gitOutput, limitGitMemory } from '../../src/git/run.ts'
import { createRemote, remoteAt } from './git-environment.ts'

/** Adds refs of pull requests to the remote, all with this head, from 1 to `count`. */
function addPulls(git: GitRepository, head: string, count: number): void {
  const refs = Array.from({ length: count }, (_, i) => `refs/pull/${i + 1}/head`).sort()
  git.inRemote('pack-refs', '--all')
  appendFileSync(join(git.remote, 'packed-refs'), refs.map((ref) => `${head} ${ref}\n`).join(''))
}

/** The processor time of this process, in milliseconds. */
async function processorTime(work: () => unknown): Promise<number> {
  const before = process.cpuUsage()
  await work()
  const { user, system } = process.cpuUsage(before)
  return (user + system) / 1_000
}

// Many times what it takes, and a fraction of what it took when each pull request sorted those before it.
const maxMs = 5_000

test('any number of pull requests with the same head are listed in linear time, in ascending order', async () => {
  const count = 30_000
  const git = createRemote({ 'a.md': 'a\n' })
  addPulls(git, git.head(), count)
  const usedMs = await processorTime(async () => {
    const refs = await readPullRefs({ ...remoteAt(git.remote), allowLocal: true }, 'refs/pull/*/head')
    assert.deepEqual([refs.count, refs.isComplete], [count, true])
    assert.deepEqual(
      refs.numbersOf(git.head()),
      Array.from({ length: count }, (_, i) => i + 1),
    )
  })
  assert.ok(usedMs < maxMs, `it took ${usedMs} ms of processor time`)
})

test('one list of refs at a time may use twice the memory of other commands', async (t) => {
  const megabyte = 1024 * 1024
  const count = 100_000
  const git = createRemote({ 'a.md': 'a\n' })
  addPulls(git, git.head(), count)
  // Git needs 33 MB for them.
  limitGitMemory(24 * megabyte)
  t.after(() => limitGitMemory(96 * megabyte))
  const read = () => readPullRefs({ ...remoteAt(git.remote), allowLocal: true }, 'refs/pull/*/head')
  // It waits until its output is read, and keeps its memory meanwhile.
  const waiting = gitOutput(['ls-remote', '--quiet', git.remote], { listsRefs: true })
  await waiting.next()
  await assert.rejects(read(), /^GitError: git ls-remote: had to wait for another large list of refs: retry in a few/)
  await waiting.return(undefined)
  // The place is free again.
  const { count: found, isComplete } = await read()
  assert.deepEqual([found, isComplete], [count, true])
})

test('any number of pull requests that share a trace are collected in linear time', async () => {
  const usedMs = await processorTime(() => {
    const numbers = collectPullNumbers()
    for (let number = 200_000; number > 0; number--) numbers.add('trace', number)
    const { of, has } = numbers.finish()
    assert.deepEqual([of('trace').length, of('trace')[0], of('other'), has('other')], [200_000, 1, [], false])
  })
  assert.ok(usedMs < maxMs, `it took ${usedMs} ms of processor time`)
})

test('merges of a head that many pull requests share cost as much as what their subjects name', async () => {
  const service = new TestService()
  await service.open(sqlite)
  const prepare = (git: GitRepository) => {
    git.commit('Start', { 'prompts/p.md': 'Be kind.\n' })
    git.push('HEAD:main')
    const [start, tree] = [git.head(), git.head('HEAD^{tree}')]
    const head = commitRaw(git.remote, tree, start, 'Shared')
    git.commit('Be kinder', { 'prompts/p.md': 'Be kinder.\n' })
    git.push('HEAD:changed')
    let tip = start
    for (let i = 0; i < 100; i++) tip = commitRaw(git.remote, tree, `${tip}\nparent ${head}`, `Part ${i}`)
    tip = commitRaw(git.remote, git.head('HEAD^{tree}'), `${tip}\nparent ${head}`, 'Bring acme/prompts!301')
    git.inRemote('update-ref', 'refs/heads/main', tip)
    addPulls(git, head, 100_000)
  }
  let scenario: Scenario | undefined
  const usedMs = await processorTime(async () => {
    scenario = await connectedScenario(service, { prepare })
  })
  assert.match((await scenario?.summary())?.at(-1) ?? '', /#301$/)
  assert.ok(usedMs < maxMs, `it took ${usedMs} ms of processor time`)
})
