import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { at, now, readClosedPull } from './read-delivery.ts'

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

  test('an old Gitea that sends the number only beside the pull request is understood', () => {
    assert.equal(readClosedPull('gitea', { 'pull_request.number': undefined }).number, 12)
  })

  test('a pull request without any time was opened and closed when the delivery arrived', () => {
    const none = { created_at: undefined, updated_at: undefined, closed_at: undefined }
    const values = Object.fromEntries(Object.entries(none).map(([name, value]) => [`pull_request.${name}`, value]))
    const { openedAt, event } = readClosedPull('gitea', values)
    assert.deepEqual([openedAt, event.at, event.atReceipt], [now, now, true])
  })

  test('a pull request without a creation time was not opened after it was closed', () => {
    const { openedAt, event } = readClosedPull('gitea', { 'pull_request.created_at': undefined })
    assert.deepEqual([openedAt, event.at], [Date.parse(at), Date.parse(at)])
  })

  test('a deleted branch keeps its name', () => {
    const { event } = readClosedPull('gitea', { 'pull_request.head.ref': 'refs/pull/12/head' })
    assert.equal(event.headBranch, 'feature')
  })
})
