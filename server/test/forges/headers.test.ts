import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { deliveriesFrom } from '../../../testing/payloads/deliveries.ts'
import type { ForgeName } from '../../../testing/payloads/facts.ts'
import { forgeNames } from '../../src/domain/repositories/repository.ts'
import { forgeOf } from '../../src/forges/index.ts'
import { after, before, head, secret } from './read-delivery.ts'

describe('Webhook headers', () => {
  const events: Record<ForgeName, [push: string, pull: string]> = {
    github: ['push', 'pull_request'],
    gitlab: ['Push Hook', 'Merge Request Hook'],
    gitea: ['push', 'pull_request'],
    forgejo: ['push', 'pull_request'],
    bitbucket: ['repo:push', 'pullrequest:created'],
  }

  for (const name of forgeNames) {
    const { readHeaders } = forgeOf(name)

    test(`${name}: the headers give the event and a delivery id that is unique and survives a resend`, () => {
      const forge = deliveriesFrom(name, secret)
      const push = forge.push({ before, after })
      const opened = forge.pull({ action: 'opened', number: 1, head })
      assert.deepEqual(
        [push, opened].map(({ headers }) => readHeaders(headers).event),
        events[name],
      )
      const [first, second] = [push, opened].map(({ headers }) => readHeaders(headers).deliveryId)
      assert.ok(first && second && first !== second)
      const resent = forge.signed('push', push.body, first)
      assert.equal(readHeaders(resent.headers).deliveryId, first)
    })

    test(`${name}: missing, repeated, oversized or unprintable headers give no event and no delivery id`, () => {
      const none = { event: '', deliveryId: null }
      assert.deepEqual(readHeaders({}), none)
      const { headers } = deliveriesFrom(name, secret).push({ before, after })
      for (const change of [
        (value: string) => [value, value],
        () => 'x'.repeat(201),
        () => 'é',
        () => 'a\u0000',
        () => '',
      ]) {
        const changed = Object.fromEntries(Object.entries(headers).map(([key, value]) => [key, change(value)]))
        assert.deepEqual(readHeaders(changed), none)
      }
    })
  }

  test('GitLab before 17.4 sends a delivery id only if it signs', () => {
    assert.equal(forgeOf('gitlab').readHeaders({ 'x-gitlab-event': 'Push Hook' }).deliveryId, null)
    assert.equal(forgeOf('gitlab').readHeaders({ 'webhook-id': 'one' }).deliveryId, 'one')
  })
})
