import assert from 'node:assert/strict'
import { test } from 'node:test'
import { newPrompt } from '../../src/domain/prompt.ts'

test('a new prompt gets a unique ID of pmt_ and 24 random characters', () => {
  const ids = new Set(Array.from({ length: 1_000 }, () => newPrompt(1, 'a', 0).publicId))
  assert.equal(ids.size, 1_000)
  for (const id of ids) assert.match(id, /^pmt_[0-9A-Za-z]{24}$/)
})
