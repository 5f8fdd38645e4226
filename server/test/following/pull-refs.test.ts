import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { readPullRefs } from '../../src/git/pull-refs.ts'
import { createRemote, remoteAt } from './git-environment.ts'

describe('Refs of pull requests', () => {
  test('only refs of the pattern with a number are listed, and one head can belong to several pull requests', async () => {
    const git = createRemote({ 'a.md': 'a\n' })
    const first = git.head()
    const second = git.commit('Second', { 'a.md': 'b\n' })
    git.push(
      `${first}:refs/pull/7/head`,
      `${first}:refs/pull/30/head`,
      `${second}:refs/pull/8/head`,
      `${second}:refs/pull/9/merge`,
      `${second}:refs/pull/x/head`,
      `${second}:refs/pull/010/head`,
      `${second}:refs/pull/1/2/head`,
      `${second}:refs/heads/refs/pull/11/head`,
      `${second}:refs/merge-requests/12/head`,
    )
    const remote = { ...remoteAt(git.remote), allowLocal: true }
    const refs = await readPullRefs(remote, 'refs/pull/*/head')
    assert.deepEqual(new Set(refs.numbers()), new Set([7, 8, 30]))
    assert.deepEqual([refs.count, refs.isComplete], [3, true])
    assert.deepEqual(refs.numbersOf(first), [7, 30])
    assert.deepEqual([refs.headOf(8), refs.headOf(9)], [second, null])
    assert.deepEqual([refs.isPullHead(second), refs.isPullHead('0'.repeat(40))], [true, false])
    assert.deepEqual([...(await readPullRefs(remote, 'refs/merge-requests/*/head')).numbers()], [12])
    assert.equal((await readPullRefs(remote, 'refs/pull-requests/*/from')).count, 0)
  })
})
