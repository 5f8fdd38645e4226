import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { firstCharacters, folded, isLongerThan, sanitisedLine, validName } from '../../src/domain/text.ts'
import { phraseFinder } from '../../src/domain/texts/phrase.ts'

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

  test('a text of thousands of marks on one letter is compared in linear time', () => {
    const marks = ['\u0300\u0327', '\u0300\u0300\u0327']
    for (const text of marks.map((each) => `X${each.repeat(20_000)}y`)) {
      const startedAt = performance.now()
      assert.ok(folded(text).startsWith('x'))
      assert.ok(phraseFinder('Y')(text))
      assert.ok(performance.now() - startedAt < 1_000)
    }
    assert.equal(folded('E\u0301\u0327'), '\u0229\u0301')
    assert.equal(folded(`e${'\u0301'.repeat(29)}`), `e${'\u0301'.repeat(29)}`.normalize())
  })

  test('the place of a hidden character is counted in characters', () => {
    assert.throws(() => validName('name', '😀😀\u202e', 10), /at character 3$/)
  })
})
