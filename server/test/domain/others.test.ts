import assert from 'node:assert/strict'
import { test } from 'node:test'
import { isShared } from '../../src/domain/shifts/others.ts'

test('two of 200 prompts that move within a wide range are chance, twenty are not', () => {
  // Two in a year of 200 prompts that move once a year each, within a range of three days.
  assert.equal(isShared({ moved: 2, unchanged: 2, expected: 200 * (3 / 365), all: 199 }, false), false)
  assert.equal(isShared({ moved: 20, unchanged: 20, expected: 200 * (3 / 365), all: 199 }, false), true)
  assert.equal(isShared({ moved: 2, unchanged: 2, expected: 0.05, all: 199 }, false), true)
  assert.equal(isShared({ moved: 1, unchanged: 1, expected: 0, all: 1 }, false), false, 'one may always be chance')
})

test('a change is blamed unless half of the prompts without a change moved too', () => {
  const others = { moved: 9, expected: 0.01, all: 9 }
  assert.equal(isShared({ ...others, unchanged: 7 }, true), true)
  assert.equal(isShared({ ...others, unchanged: 0 }, true), false, 'a pull request that touched all of them')
  assert.equal(isShared({ ...others, unchanged: 0 }, false), true, 'no change of its own')
  assert.equal(isShared({ moved: 2, unchanged: 2, expected: 0.01, all: 9 }, true), false, 'most stayed as they were')
  assert.equal(isShared({ moved: 8, unchanged: 1, expected: 0.01, all: 9 }, true), false, 'one may always be chance')
})
