import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import fc from 'fast-check'
import { member, objectOf, textOf, values } from '../../../testing/metadata-members.ts'
import { metadataQuery } from '../../src/domain/signals/erasure.ts'
import { canonicalJson } from '../../src/domain/signals/json-text.ts'

describe('Metadata queries', () => {
  test('JSON values match regardless of spelling, and different values never match', () => {
    const texts = values.flatMap((row, i) => row.map((text) => ({ i, text })))
    for (const a of texts) {
      for (const b of texts) {
        assert.equal(canonicalJson(a.text) === canonicalJson(b.text), a.i === b.i, `${a.text} ${b.text}`)
        const isMatch = metadataQuery(`{"a":${a.text}}`).matches(`{"b":1,"a":${b.text}}`)
        assert.equal(isMatch, a.i === b.i, `${a.text} ${b.text}`)
      }
    }
  })

  test('every occurrence of a repeated member is searched', () => {
    const metadata = '{"user":"u-1","n":1,"user":{"id":"u-2"},"n":2.0,"\\u0075ser":"u-3"}'
    for (const text of [
      '{"user":"u-1"}',
      '{"user":{"id":"u-2"}}',
      '{"user":"u-3"}',
      '{"n":1}',
      '{"n":2,"user":"u-1"}',
    ]) {
      assert.ok(metadataQuery(text).matches(metadata), text)
    }
    for (const text of ['{"user":"u-2"}', '{"id":"u-2"}', '{"n":1,"user":"u-4"}']) {
      assert.ok(!metadataQuery(text).matches(metadata), text)
    }
  })

  test('comparing metadata takes one pass over it, however many members the query has', (t) => {
    const metadata = objectOf(1_500)
    const { charCodeAt } = String.prototype
    let charactersRead = 0
    // The test runner's own mocks keep every call, which takes seconds here.
    Object.assign(String.prototype, {
      charCodeAt(this: string, at: number) {
        charactersRead++
        return charCodeAt.call(this, at)
      },
    })
    t.after(() => Object.assign(String.prototype, { charCodeAt }))
    const readsOf = (members: number) => {
      const query = metadataQuery(objectOf(members).replaceAll('"x"', '"y"'))
      charactersRead = 0
      assert.ok(!query.matches(metadata))
      return charactersRead
    }
    assert.equal(readsOf(16), readsOf(1))
    assert.ok(readsOf(1) < 4 * metadata.length, 'each character is read a few times')
  })

  test('the database prefilter finds every match whose text has no backslash', () => {
    fc.assert(
      fc.property(
        fc.array(member, { minLength: 1, maxLength: 4 }),
        fc.array(member, { maxLength: 3 }),
        (query, others) => {
          const metadata = textOf([...others, ...query])
          const { prefilter, matches } = metadataQuery(textOf(query))
          assert.ok(matches(metadata))
          assert.ok(metadata.includes(prefilter) || metadata.includes('\\'), `${prefilter} ${metadata}`)
        },
      ),
    )
  })
})
