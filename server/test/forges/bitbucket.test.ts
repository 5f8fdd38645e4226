import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { deliveriesFrom } from '../../../testing/payloads/deliveries.ts'
import { after, before, merge, readDelivery, readPull, secret, withValues } from './read-delivery.ts'

describe('Bitbucket', () => {
  test('shortened hashes are passed on as they are, in lower case', () => {
    const { event } = readPull('bitbucket', {
      action: 'merged',
      head: 'ABCDEF012345'.padEnd(40, '0'),
      mergeCommit: merge,
    })
    assert.deepEqual([event.head, event.mergeCommit], ['abcdef012345', merge.slice(0, 12)])
  })

  test('one delivery reports every pushed branch and no tag', () => {
    const delivery = deliveriesFrom('bitbucket', secret).push({ before, after })
    const side = (name: string, type: string, hash: string) => ({ name, type, target: { hash } })
    const push = {
      changes: [
        { old: side('main', 'branch', before), new: side('main', 'branch', after) },
        { old: null, new: side('v1', 'tag', after) },
        { old: side('gone', 'branch', before), new: null, closed: true },
        { old: null, new: side('fresh', 'branch', after), created: true },
        { old: side('v0', 'tag', before), new: null, closed: true },
      ],
    }
    const { events } = readDelivery('bitbucket', withValues(delivery, { push }))
    assert.deepEqual(
      events.map((event) => event.type === 'push' && [event.branch, event.before, event.after]),
      [
        ['main', before, after],
        ['gone', before, null],
        ['fresh', null, after],
      ],
    )
    assert.throws(() => readDelivery('bitbucket', withValues(delivery, { push: {} })), {
      message: 'push.changes must be an array of objects',
    })
  })
})
