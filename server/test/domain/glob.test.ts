import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { matchesGlob, validGlob } from '../../src/domain/glob.ts'
import type { Prompt } from '../../src/domain/prompt.ts'
import { visiblePrompts } from '../../src/http/visible-prompts.ts'

test('a glob matches by the rules of git', () => {
  const matching = [
    ['prompts/a.md', 'prompts/a.md'],
    ['prompts/*.md', 'prompts/a.md'],
    ['prompts/*.md', 'prompts/.md'],
    ['prompts/?.md', 'prompts/ü.md'],
    ['prompts/?.md', 'prompts/😀.md'],
    ['prompts/**', 'prompts/a/b.md'],
    ['**', ''],
    ['**', 'a/b'],
    ['**/a.md', 'a.md'],
    ['**/a.md', 'x/y/a.md'],
    ['x/**/a.md', 'x/a.md'],
    ['x/**/a.md', 'x/y/z/a.md'],
    ['*', 'Support answers'],
    ['Support *', 'Support answers'],
    ['a[b].(c)', 'a[b].(c)'],
  ] as const
  for (const [glob, text] of matching) assert.ok(matchesGlob(glob, text), `${glob} should match ${text}`)
  const others = [
    ['prompts/*.md', 'prompts/x/a.md'],
    ['prompts/*.md', 'prompts/a.md.txt'],
    ['prompts/?.md', 'prompts/ab.md'],
    ['prompts/?.md', 'prompts//.md'],
    ['prompts/**', 'prompt/a.md'],
    ['**/a.md', 'ba.md'],
    ['x/**/a.md', 'x/ya.md'],
    ['*', 'a/b'],
    ['a', 'A'],
    ['a', ''],
    ['[ab]', 'a'],
    ['{a,b}', 'a'],
  ] as const
  for (const [glob, text] of others) assert.ok(!matchesGlob(glob, text), `${glob} should not match ${text}`)
})

test('a glob agrees with a regular expression of the same meaning', () => {
  const parts: Record<string, string> = {
    '**/': '(?:.*/)?',
    '**': '.*',
    '*': '[^/]*',
    '?': '[^/]',
    a: 'a',
    b: 'b',
    '/': '/',
  }
  const texts = fc.array(fc.constantFrom('a', 'b', '/'), { maxLength: 8 }).map((characters) => characters.join(''))
  fc.assert(
    fc.property(fc.array(fc.constantFrom(...Object.keys(parts)), { maxLength: 6 }), texts, (chosen, text) => {
      const glob = chosen.join('')
      const tokens = glob.match(/\*\*\/?|./g) ?? []
      // `**/` stands for folders only where one starts; elsewhere it ends at one.
      const expression = tokens.map((token) => (token === '**/' ? '(?:.*(?:(?<=/)|^))' : parts[token])).join('')
      assert.equal(matchesGlob(glob, text), new RegExp(`^${expression}$`).test(text), `${glob} ${text}`)
    }),
    { numRuns: 3_000 },
  )
})

test('a glob with many wildcards is matched in linear time', () => {
  const glob = validGlob('prompts', `${'*a'.repeat(10)}b`)
  const startedAt = performance.now()
  assert.equal(matchesGlob(glob, 'a'.repeat(1_000)), false)
  assert.ok(performance.now() - startedAt < 10_000)
  assert.throws(() => validGlob('prompts', '*a'.repeat(11)), /at most 10 wildcards/)
})

const longName = 'a'.repeat(1_000)

test('the longest globs are compared with the longest names in about a millisecond', () => {
  const startedAt = performance.now()
  for (const glob of [`*${'a'.repeat(190)}b`, `*${'?'.repeat(190)}b`, `${'**/*a'.repeat(5)}b`]) {
    for (let i = 0; i < 100; i++) assert.equal(matchesGlob(validGlob('prompts', glob), longName), false)
  }
  assert.ok(performance.now() - startedAt < 1_500)
})

test('other requests run while the names of all prompts are compared with the glob of a key', async () => {
  const prompt: Prompt = {
    ...{ id: 1, publicId: 'pmt_', organisationId: 1, name: longName, createdAt: 0 },
    ...{ repositoryId: null, path: null },
  }
  const prompts = { list: async () => Array<Prompt>(400).fill(prompt) }
  let isOver = false
  let turns = 0
  const count = () => {
    turns++
    if (!isOver) setImmediate(count)
  }
  setImmediate(count)
  const visible = await visiblePrompts(prompts, { organisationId: 1, prompts: `*${'a'.repeat(190)}b` })
  isOver = true
  assert.deepEqual(visible, [])
  assert.ok(turns > 2, `${turns}`)
})
