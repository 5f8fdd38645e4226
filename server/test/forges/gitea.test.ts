import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { at, readClosedPull } from './read-delivery.ts'

describe('Gitea', () => {
  test('an old Gitea that sends no closing time closed the pull request at its last update', () => {
    for (const value of [null, undefined]) {
      const { event } = readClosedPull('gitea', { 'pull_request.closed_at': value })
      assert.deepEqual([event.kind, event.at], ['closed', Date.parse(at)])
    }
  })

  test('a close of a pull request whose state is still open is unclear', () => {
    assert.equal(readClosedPull('gitea', { 'pull_request.state': 'open' }).event.kind, 'unclear')
  })

  test('a deleted branch keeps its name', () => {
    const { event } = readClosedPull('gitea', { 'pull_request.head.ref': 'refs/pull/12/head' })
    assert.equal(event.headBranch, 'feature')
  })
})
