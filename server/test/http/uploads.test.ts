import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { overloaded } from '../../src/http/errors.ts'
import { createUploads, type Upload } from '../../src/http/webhooks/uploads.ts'

describe('Memory of webhook bodies', () => {
  const limits = { maxBytes: 100, maxBytesPerHook: 60, maxPerHook: 3 }

  function start() {
    let rejections = 0
    const uploads = createUploads(limits, () => {
      rejections++
    })
    const upload = (hookId: string) => {
      const added: Upload & { error: Error | null } = {
        hookId,
        bytes: 0,
        error: null,
        abort: (error) => {
          added.error = error
          added.abort = null
        },
      }
      uploads.add(added)
      return added
    }
    return { uploads, upload, rejections: () => rejections }
  }

  test('beyond the limit of a webhook, its largest body is rejected', () => {
    const { uploads, upload, rejections } = start()
    const [large, small] = [upload('a'), upload('a')]
    uploads.receive(large, 50)
    uploads.receive(small, 10)
    assert.equal(rejections(), 0)
    uploads.receive(small, 1)
    assert.deepEqual([large.error, small.error, rejections()], [overloaded, null, 1])
    uploads.receive(small, 49)
    assert.equal(small.error, null)
    uploads.receive(small, 1)
    assert.equal(small.error, overloaded)
  })

  test('beyond the limit of the process, the largest body of any webhook is rejected', () => {
    const { uploads, upload } = start()
    const [a, b, c] = [upload('a'), upload('b'), upload('c')]
    uploads.receive(a, 45)
    uploads.receive(b, 50)
    uploads.receive(c, 6)
    assert.deepEqual([a.error, b.error, c.error], [null, overloaded, null])
  })

  test('uploads that send nothing take no memory, and the oldest makes room for a new one', () => {
    const { uploads, upload } = start()
    const idle = [upload('a'), upload('a'), upload('a')]
    const other = upload('b')
    const next = upload('a')
    assert.deepEqual(
      [...idle, other, next].map(({ error }) => error),
      [overloaded, null, null, null, null],
    )
    uploads.receive(next, 60)
    uploads.receive(other, 40)
    assert.equal(next.error, null)
  })

  test('a body counts until it is stored, and cannot be rejected once it has arrived', () => {
    const { uploads, upload } = start()
    const arrived = upload('a')
    uploads.receive(arrived, 60)
    arrived.abort = null
    const next = upload('a')
    uploads.receive(next, 1)
    assert.deepEqual([arrived.error, next.error], [null, overloaded])
    uploads.remove(arrived)
    uploads.remove(arrived)
    const last = upload('a')
    uploads.receive(last, 60)
    assert.equal(last.error, null)
  })
})
