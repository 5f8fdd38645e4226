import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { groupCommit } from '../../src/store/group-commit.ts'

describe('Groups', () => {
  test('answer each call with its own result, in few acts, in order of arrival', async () => {
    const groups: number[][] = []
    const { submit: join, idle } = groupCommit(async (items: number[]) => {
      groups.push(items)
      await new Promise((resolve) => setTimeout(resolve, 5))
      return items.map((item) => item * 2)
    })
    const calls = Array.from({ length: 100 }, (_, i) => join(i))
    assert.deepEqual(
      await Promise.all(calls),
      Array.from({ length: 100 }, (_, i) => i * 2),
    )
    await idle()
    assert.ok(groups.length <= 2, `${groups.length} acts`)
    assert.deepEqual(
      groups.flat(),
      groups.flat().toSorted((a, b) => a - b),
    )
  })

  test('fail only the calls of the act that failed', async () => {
    const { submit: join } = groupCommit(async (items: string[]) => {
      if (items.includes('bad')) throw new Error('bad group')
      return items
    })
    await assert.rejects(join('bad'), /bad group/)
    assert.equal(await join('good'), 'good')
  })

  test('take no more than their share at once', async () => {
    const sizes: number[] = []
    const { submit: join } = groupCommit(
      async (items: number[]) => {
        sizes.push(items.length)
        return items
      },
      { batchSize: (waiting) => Math.ceil(waiting / 2) },
    )
    await Promise.all(Array.from({ length: 8 }, (_, i) => join(i)))
    assert.deepEqual(sizes, [4, 2, 1, 1])
  })
})
