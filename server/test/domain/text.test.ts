import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { firstCharacters, isLongerThan, sanitisedLine, validName } from '../../src/domain/text.ts'

describe('Characters of a text', () => {
  test('a text that is cut keeps as many whole characters as its limit says', () => {
    assert.equal(firstCharacters('a😀😀b', 3), 'a😀😀')
    assert.equal(firstCharacters('a😀😀b', 2), 'a😀')
    assert.equal(firstCharacters('a😀', 5), 'a😀')
    assert.equal(firstCharacters('\ud83d\ud83dab', 3), '\ud83d\ud83da')
    assert.equal(sanitisedLine('a😀😀b', 2, ''), 'a😀')
  })

  test('a text is too long from the first character beyond its limit', () => {
    assert.deepEqual(
      ['😀😀', '😀😀😀', 'ab', 'abc', 'a😀', 'a😀b'].map((text) => isLongerThan(text, 2)),
      [false, true, false, true, false, true],
    )
  })

  test('the place of a hidden character is counted in characters', () => {
    assert.throws(() => validName('name', '😀😀\u202e', 10), /at character 3$/)
  })
})
