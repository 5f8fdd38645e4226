import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { formatEffect } from '../../src/cli/remote/figures.ts'
import { parseServerUrl } from '../../src/cli/remote/server-url.ts'
import { columns, cut, paint, styled, widthOf, wrap } from '../../src/cli/remote/text.ts'
import { diffTexts } from '../../src/cli/remote/text-diff.ts'

describe('Text on a terminal', () => {
  test('every piece is escaped, also inside colour', () => {
    const text = ['a\u001b[2J', styled('red', 'b\u202e\n')]
    assert.equal(paint(text, false), 'a\\u{1b}[2Jb\\u{202e}\\u{a}')
    assert.equal(paint(text, true), 'a\\u{1b}[2J\u001b[31mb\\u{202e}\\u{a}\u001b[0m')
  })

  test('wide characters take two columns and combining ones none', () => {
    assert.equal(widthOf('漢字e\u0301'), 5)
    assert.equal(cut('漢字漢字', 5), '漢字…')
    assert.equal(cut('short', 5), 'short')
    assert.deepEqual(wrap('one two three', 7), ['one two', 'three'])
    assert.deepEqual(wrap('a incomprehensible', 4), ['a', 'incomprehensible'])
  })

  test('the flexible column of a table is cut to the width of the terminal', () => {
    const heads = [
      { title: 'NAME', flexible: true },
      { title: 'COUNT', align: 'right' as const },
    ]
    const lines = columns(heads, [['x'.repeat(40), '7']], 30).map((line) => paint(line, false))
    assert.deepEqual(lines, [`NAME${' '.repeat(19)}  COUNT`, `${'x'.repeat(22)}…      7`])
    assert.equal(paint(columns(heads, [['x'.repeat(40), '7']], null)[1] ?? '', false).length, 47)
  })

  test('optional columns are left out of a table that cutting cannot fit to the terminal, the last one first', () => {
    const heads = [
      { title: 'NAME', flexible: true },
      { title: 'LIVE', optional: true },
      { title: 'COUNT' },
      { title: 'AUTHOR', optional: true },
    ]
    const titles = (width: number | null) =>
      paint(columns(heads, [['x'.repeat(40), '2026-11-15', '7', 'Ada Lovelace']], width)[0] ?? '', false)
        .trim()
        .split(/ +/)
    assert.deepEqual(titles(null), ['NAME', 'LIVE', 'COUNT', 'AUTHOR'])
    assert.deepEqual(titles(45), ['NAME', 'LIVE', 'COUNT', 'AUTHOR'])
    assert.deepEqual(titles(44), ['NAME', 'LIVE', 'COUNT'])
    assert.deepEqual(titles(30), ['NAME', 'COUNT'])
    assert.deepEqual(titles(5), ['NAME', 'COUNT'])
  })

  test('an effect without signals on a side says so instead of a share of 0', () => {
    const none = { positive: 0, negative: 0, rate: null }
    const some = { positive: 1, negative: 1, rate: 0.5 }
    assert.equal(formatEffect({ before: some, after: some }), '50% of 2 → 50% of 2 signals positive')
    assert.equal(formatEffect({ before: none, after: some }), 'no signals → 50% of 2 signals positive')
    assert.equal(formatEffect({ before: some, after: none }), '50% of 2 signals positive → no signals')
    assert.equal(formatEffect({ before: none, after: none }), 'no signals')
  })

  test('a host without a scheme is suggested with http:// on the own network, else with https://', () => {
    for (const [text, example] of [
      ['127.0.0.1:3000', 'http://127.0.0.1:3000'],
      ['localhost:3000', 'http://localhost:3000'],
      ['ledger.example.com', 'https://ledger.example.com'],
    ] as const)
      assert.throws(() => parseServerUrl(text), { message: new RegExp(`such as ${RegExp.escape(example)}\\.$`) })
  })

  test('a diff leaves out lines far from a change, and marks words only in similar lines', () => {
    const before = [...Array(9).fill('same'), 'one two three four', 'end'].join('\n')
    const after = before.replace('two', '2').concat('\nmore')
    const lines = diffTexts(before, after)?.map((line) => paint(line, false))
    assert.deepEqual(lines, [
      '@@ 6 unchanged lines @@',
      ' same',
      ' same',
      ' same',
      '-one two three four',
      '-end',
      '+one 2 three four',
      '+end',
      '+more',
    ])
    assert.deepEqual(
      diffTexts('', 'new\n')?.map((line) => paint(line, false)),
      ['+new'],
    )
  })

  test('very different long texts are given up after two seconds', () => {
    const text = (seed: number) => Array.from({ length: 60_000 }, (_, i) => `line ${(i * seed) % 999_983}`).join('\n')
    const startedAt = performance.now()
    const lines = diffTexts(text(7), text(13))
    assert.ok(lines === null || lines.length > 0)
    assert.ok(performance.now() - startedAt < 30_000)
  })
})
