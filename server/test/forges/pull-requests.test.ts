import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { repositoryPage, testMerge } from '../../../testing/payloads/facts.ts'
import { forgeNames } from '../../src/domain/repositories/repository.ts'
import { forgeOf } from '../../src/forges/index.ts'
import { at, head, merge, openedAt, pullDelivery, readDelivery, readPull } from './read-delivery.ts'

for (const name of forgeNames) {
  const isBitbucket = name === 'bitbucket'
  const { title, pullPath } = forgeOf(name)
  // Bitbucket shortens hashes.
  const sent = (sha: string) => (isBitbucket ? sha.slice(0, 12) : sha)

  describe(`Pull request deliveries of ${title}`, () => {
    test('an opened pull request reports number, page, title, branches, head commit, author and time', () => {
      assert.deepEqual(readPull(name, { action: 'opened', author: 'ada', title: 'Be kinder', at: openedAt }), {
        type: 'pull',
        number: 12,
        url: `${repositoryPage(name)}${pullPath(12)}`,
        title: 'Be kinder',
        openedAt: Date.parse(openedAt),
        event: {
          kind: 'opened',
          at: Date.parse(openedAt),
          head: sent(head),
          headBranch: 'feature',
          base: 'main',
          mergeCommit: null,
          commitCount: name === 'github' ? 1 : null,
          mergeBase: name === 'gitea' || name === 'forgejo' ? testMerge : null,
          actor: 'ada',
        },
      })
    })

    test('the opening time is independent of later updates', () => {
      assert.equal(readPull(name, { action: 'opened' }).event.at, Date.parse(openedAt))
    })

    test('new commits, a close and a merge report the user and the time', () => {
      for (const action of ['updated', 'closed', 'merged'] as const) {
        const report = readPull(name, { action, author: 'ada', actor: 'grace', mergeCommit: merge })
        const { event } = report
        assert.equal(event.kind, action)
        assert.equal(event.at, Date.parse(at))
        assert.equal(event.actor, 'grace')
        assert.equal(report.openedAt, Date.parse(openedAt))
        assert.equal(event.mergeCommit, action === 'merged' ? sent(merge) : null)
      }
    })

    test('a change of the target branch is reported', () => {
      const { event } = readPull(name, { action: 'retargeted', base: 'main', previousBase: 'develop' })
      assert.equal(event.kind, isBitbucket ? 'updated' : 'retargeted')
      assert.equal(event.base, 'main')
    })

    if (!isBitbucket) {
      test('a reopened pull request is reported', () => {
        const { event } = readPull(name, { action: 'reopened' })
        assert.deepEqual([event.kind, event.at], ['reopened', Date.parse(at)])
      })

      test('a draft that becomes ready for review is no event', () => {
        assert.deepEqual(readDelivery(name, pullDelivery(name, { action: 'ready_for_review' })).events, [])
      })
    }

    test('a draft counts as opened, and labels are no event', () => {
      assert.equal(readPull(name, { action: 'draft_opened' }).event.kind, 'opened')
      assert.deepEqual(readDelivery(name, pullDelivery(name, { action: 'labeled' })).events, [])
    })

    test('a merge without a merge commit is still reported', () => {
      assert.equal(readPull(name, { action: 'merged', mergeCommit: null }).event.mergeCommit, null)
    })

    test("a fork's branch is prefixed with its owner, even if it is called main", () => {
      const { event } = readPull(name, { action: 'opened', headBranch: 'main', fork: { owner: 'eve' } })
      assert.equal(event.headBranch, 'eve:main')
    })

    test("a deleted fork's branch is not mistaken for a branch of the repository", () => {
      const fork = { owner: 'eve', deleted: true }
      const { event } = readPull(name, { action: 'closed', headBranch: 'main', fork })
      assert.equal(event.headBranch, name === 'github' ? 'eve:main' : 'unknown:main')
      assert.equal(event.head, sent(head))
    })

    test('a user who deleted their account is reported as ghost or as null', () => {
      const deleted = name === 'gitlab' || isBitbucket ? null : 'ghost'
      for (const action of ['opened', 'closed', 'merged'] as const) {
        assert.equal(readPull(name, { action, author: null, actor: null }).event.actor, deleted)
      }
    })

    test('a title may be empty, and control characters are removed from it', () => {
      assert.equal(readPull(name, { action: 'closed', title: '' }).title, '')
      assert.equal(readPull(name, { action: 'closed', title: 'a\u0000b\u001b[31m\ud800 ' }).title, 'a b [31m\ufffd')
    })
  })
}
