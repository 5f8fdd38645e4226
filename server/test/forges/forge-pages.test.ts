import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { type ForgeName, repositoryPage } from '../../../testing/payloads/facts.ts'
import { forgeNames } from '../../src/domain/repositories/repository.ts'
import { forgeOf } from '../../src/forges/index.ts'

describe('Forges', () => {
  test('each forge has its own ref and page for a pull request', () => {
    const places = forgeNames.map((name) => [name, forgeOf(name).pullRef(7), forgeOf(name).pullPath(7)])
    assert.deepEqual(places, [
      ['github', 'refs/pull/7/head', '/pull/7'],
      ['gitlab', 'refs/merge-requests/7/head', '/-/merge_requests/7'],
      ['gitea', 'refs/pull/7/head', '/pulls/7'],
      ['forgejo', 'refs/pull/7/head', '/pulls/7'],
      ['bitbucket', null, '/pull-requests/7'],
    ])
  })

  test('a commit made by the forge is recognised by its email address, not by its name', () => {
    const isForges = (name: ForgeName, email: string) => forgeOf(name).isForgeCommitter({ name: 'GitHub', email })
    assert.ok(isForges('github', 'noreply@github.com'))
    assert.ok(!isForges('github', '7+ada@users.noreply.github.com'))
    assert.ok(isForges('gitlab', 'noreply@gitlab.com'))
    for (const name of ['gitlab', 'gitea', 'forgejo', 'bitbucket'] as const) {
      assert.ok(!isForges(name, 'noreply@github.com'))
    }
  })

  test('the set-up steps are four short lines with the page, the webhook URL and the secret', () => {
    for (const name of forgeNames) {
      const webUrl = repositoryPage(name)
      const steps = forgeOf(name).setUpSteps({ url: 'https://ledger.example/hooks/1', secret: 's3cr3t', webUrl })
      const [page, settings, events] = steps as [string, string, string, string]
      assert.equal(steps.length, 4)
      assert.ok(page.startsWith(`Open ${webUrl}/`))
      assert.match(settings, /https:\/\/ledger\.example\/hooks\/1/)
      assert.match(settings, /s3cr3t/)
      assert.match(events, /push/i)
      assert.match(events, /(pull|merge) request/i)
      for (const step of steps) assert.ok(step.length <= 160 && !/[<>`\n]/.test(step), step)
    }
  })
})
