import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { deliveriesFrom } from '../../../testing/payloads/deliveries.ts'
import { forgeOf } from '../../src/forges/index.ts'
import {
  after,
  at,
  before,
  head,
  merge,
  now,
  onlyPull,
  onlyPush,
  pullDelivery,
  readClosedPull,
  readDelivery,
  readPull,
  secret,
  withValues,
} from './read-delivery.ts'

const later = '2026-02-28T00:00:00Z'

describe('GitHub', () => {
  test("GitHub's test merge commit is never mistaken for the merge", () => {
    for (const action of ['updated', 'closed', 'reopened', 'unclear'] as const) {
      assert.equal(readPull('github', { action, testMergeCommit: merge }).event.mergeCommit, null)
    }
  })

  test('a close that contradicts itself is unclear: closed yet open, or closed without a time', () => {
    const { event } = readPull('github', { action: 'unclear' })
    assert.deepEqual([event.kind, event.at, event.mergeCommit], ['unclear', Date.parse(at), null])
    assert.equal(readClosedPull('github', { 'pull_request.closed_at': null }).event.kind, 'unclear')
    assert.equal(readClosedPull('github', { 'pull_request.state': 'open' }).event.kind, 'unclear')
  })

  test('a merge without a merger or a merge time takes the sender and the closing time', () => {
    const delivery = withValues(pullDelivery('github', { action: 'merged', actor: 'grace' }), {
      'pull_request.merged_by': null,
      'pull_request.merged_at': null,
      'pull_request.updated_at': later,
    })
    const { event } = onlyPull(readDelivery('github', delivery))
    assert.deepEqual([event.kind, event.actor, event.at], ['merged', 'grace', Date.parse(at)])
  })

  test('the time of a merge or a close is independent of later updates', () => {
    for (const [action, laterFields] of [
      ['closed', ['updated_at']],
      ['merged', ['closed_at', 'updated_at']],
    ] as const) {
      const values = Object.fromEntries(laterFields.map((field) => [`pull_request.${field}`, later]))
      const delivery = withValues(pullDelivery('github', { action }), values)
      assert.equal(onlyPull(readDelivery('github', delivery)).event.at, Date.parse(at))
    }
  })

  test('a merge is reported even if the body has no merge commit', () => {
    const delivery = pullDelivery('github', { action: 'merged', mergeCommit: merge })
    const report = readDelivery('github', withValues(delivery, { 'pull_request.merge_commit_sha': undefined }))
    assert.equal(onlyPull(report).event.mergeCommit, null)
  })

  test('a deleted fork never looks like a branch of the repository, whatever its user and label are', () => {
    const fork = { owner: 'eve', deleted: true }
    const delivery = pullDelivery('github', { action: 'closed', headBranch: 'main', fork })
    const branchOf = (label: string | null, user: object | null) => {
      const values = { 'pull_request.head.label': label, 'pull_request.head.user': user }
      return onlyPull(readDelivery('github', withValues(delivery, values))).event.headBranch
    }
    assert.equal(branchOf('main', { login: 'eve' }), 'eve:main')
    assert.equal(branchOf('eve:main', null), 'eve:main')
    assert.equal(branchOf(null, null), 'unknown:main')
    assert.equal(branchOf(':main', null), 'unknown:main')
  })

  test('a new title is not a new target branch', () => {
    const delivery = pullDelivery('github', { action: 'retargeted' })
    assert.deepEqual(readDelivery('github', withValues(delivery, { changes: { title: { from: 'a' } } })).events, [])
  })

  test('a form-encoded delivery reads the same as JSON', () => {
    const { headers, body } = pullDelivery('github', { action: 'opened', title: 'a + b & c=%' })
    const form = Buffer.from(`payload=${encodeURIComponent(body.toString())}`)
    assert.deepEqual(readDelivery('github', { headers, body: form }), readDelivery('github', { headers, body }))
    assert.throws(() => readDelivery('github', { headers, body: Buffer.from('payload=') }), {
      message: 'the body must be JSON',
    })
  })

  test('a Forgejo delivery to a webhook that is connected as GitHub is read correctly', () => {
    for (const action of ['opened', 'updated', 'retargeted', 'reopened', 'closed', 'merged'] as const) {
      const delivery = deliveriesFrom('forgejo', secret).pull({ action, number: 12, head, mergeCommit: merge })
      assert.ok(forgeOf('github').verifySignature(delivery, [secret], now))
      assert.deepEqual(readDelivery('github', delivery), readDelivery('forgejo', delivery))
      assert.equal(onlyPull(readDelivery('github', delivery)).event.kind, action)
    }
    const push = deliveriesFrom('forgejo', secret).push({ before, after, pusher: 'alan' })
    assert.equal(onlyPush(readDelivery('github', push)).pusher, 'alan')
  })

  test('any event with a repository reports its current default branch', () => {
    const body = JSON.stringify({
      action: 'edited',
      changes: { default_branch: { from: 'master' } },
      repository: { html_url: 'https://github.example/acme/prompts/', default_branch: 'main' },
    })
    assert.deepEqual(forgeOf('github').readBody('repository', body, now), {
      repository: { id: null, fullName: null, webUrl: 'https://github.example/acme/prompts' },
      webUrl: 'https://github.example/acme/prompts',
      defaultBranch: 'main',
      events: [],
      note: null,
    })
  })

  test('a repository page that is not a web URL is dropped', () => {
    for (const html_url of ['javascript:alert(1)', 'https://', 'https://a b', '', 7, null]) {
      const body = JSON.stringify({ repository: { html_url } })
      assert.equal(forgeOf('github').readBody('ping', body, now).webUrl, null)
    }
  })
})
