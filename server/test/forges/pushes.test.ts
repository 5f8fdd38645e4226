import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { deliveriesFrom } from '../../../testing/payloads/deliveries.ts'
import { fullName, repositoryId, repositoryPage } from '../../../testing/payloads/facts.ts'
import { forgeNames } from '../../src/domain/repositories/repository.ts'
import { forgeOf } from '../../src/forges/index.ts'
import { after, before, onlyPush, readDelivery, secret } from './read-delivery.ts'

for (const name of forgeNames) {
  const forge = deliveriesFrom(name, secret)
  const { title } = forgeOf(name)

  describe(`Push deliveries of ${title}`, () => {
    test('a push reports the branch, both commits, the pusher and the repository', () => {
      const facts = { branch: 'team/prompts', before, after, pusher: 'alan', defaultBranch: 'trunk' }
      assert.deepEqual(readDelivery(name, forge.push(facts)), {
        repository: {
          id: name === 'bitbucket' ? `{${fullName}}` : String(repositoryId),
          fullName,
          webUrl: repositoryPage(name),
        },
        webUrl: repositoryPage(name),
        defaultBranch: name === 'bitbucket' ? null : 'trunk',
        events: [{ type: 'push', branch: 'team/prompts', before, after, pusher: 'alan' }],
        note: null,
      })
    })

    test('a new branch has no commit before and a deleted branch none after, also with SHA-256', () => {
      for (const sha of [after, 'ab'.repeat(32)]) {
        assert.deepEqual(onlyPush(readDelivery(name, forge.push({ before: null, after: sha }))).before, null)
        const deleted = onlyPush(readDelivery(name, forge.push({ branch: 'old', before: sha, after: null })))
        assert.deepEqual([deleted.branch, deleted.before, deleted.after], ['old', sha, null])
      }
    })

    test('tags and unrelated events report no event, only the repository', () => {
      for (const delivery of [
        forge.push({ ref: 'refs/tags/v1', before: null, after }),
        forge.push({ ref: 'refs/tags/v1', before, after: null }),
        forge.ping(),
      ]) {
        const { events, webUrl } = readDelivery(name, delivery)
        assert.deepEqual(events, [])
        assert.equal(webUrl, repositoryPage(name))
      }
    })

    test('a truncated list of commits does not change the report', () => {
      const commits = Array.from({ length: 30 }, (_, i) => ({ sha: (i + 10).toString(16).padStart(40, 'a') }))
      const delivery = forge.push({ before, after, commits, forced: true })
      assert.equal(onlyPush(readDelivery(name, delivery)).after, after)
    })
  })
}
