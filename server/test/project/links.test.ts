import assert from 'node:assert/strict'
import { test } from 'node:test'
import { brokenLinks, orphans, readPages } from '../../../site/pages.ts'

const pages = readPages()

test('every link of a page leads to a file that exists, and to a heading of it', () => {
  assert.ok(pages.length > 100, `${pages.length} pages`)
  assert.deepEqual(brokenLinks(pages), [])
})

test('every page can be reached from the README', () => {
  assert.deepEqual(orphans(pages), [])
})
