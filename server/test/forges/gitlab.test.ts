import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import {
  after,
  merge,
  onlyPull,
  openedAt,
  pullDelivery,
  readClosedPull,
  readDelivery,
  readPull,
  withValues,
} from './read-delivery.ts'

describe('GitLab', () => {
  test('both time formats of GitLab are read, with and without a time zone or fraction', () => {
    for (const text of [
      '2023-12-05 18:43:00 UTC',
      '2023-12-05T18:43:00Z',
      '2023-12-05T18:43:00.000Z',
      '2023-12-05T19:43:00+01:00',
      '2023-12-05 19:43:00 +0100',
      '2023-12-05T18:43:00',
    ]) {
      const { event } = readClosedPull('gitlab', { 'object_attributes.updated_at': text })
      assert.equal(event.at, Date.UTC(2023, 11, 5, 18, 43), text)
    }
    const { event } = readClosedPull('gitlab', { 'object_attributes.updated_at': null })
    assert.equal(event.at, Date.parse(openedAt))
  })

  test('a redacted value is never mistaken for a name', () => {
    assert.equal(readClosedPull('gitlab', { 'user.username': '[REDACTED]' }).event.actor, 'grace')
    const user = { username: '[REDACTED]', name: '[redacted]' }
    assert.equal(readClosedPull('gitlab', { user }).event.actor, null)
  })

  test('the merge commit is preferred to the squash commit, and both may be missing', () => {
    const delivery = pullDelivery('gitlab', { action: 'merged' })
    const mergeCommitOf = (merged: string | null, squashed: string | null | undefined) => {
      const values = {
        'object_attributes.merge_commit_sha': merged,
        'object_attributes.squash_commit_sha': squashed,
      }
      return onlyPull(readDelivery('gitlab', withValues(delivery, values))).event.mergeCommit
    }
    assert.equal(mergeCommitOf(merge, after), merge)
    assert.equal(mergeCommitOf(null, after), after)
    assert.equal(mergeCommitOf('', after), after)
    assert.equal(mergeCommitOf(null, undefined), null)
    assert.equal(mergeCommitOf('', ''), null)
  })

  test('a closed merge request has no merge commit', () => {
    assert.equal(readClosedPull('gitlab', { 'object_attributes.merge_commit_sha': merge }).event.mergeCommit, null)
  })

  test('a merge request without a commit reports no event yet', () => {
    const delivery = pullDelivery('gitlab', { action: 'opened' })
    assert.deepEqual(readDelivery('gitlab', withValues(delivery, { 'object_attributes.last_commit': null })).events, [])
  })

  test('the fork of a subgroup is named by its path, not by its display name', () => {
    const { event } = readPull('gitlab', { action: 'opened', fork: { owner: 'eve/lab' } })
    assert.equal(event.headBranch, 'eve/lab:feature')
  })
})
