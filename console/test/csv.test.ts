import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { readCell, writeCell } from '../../server/src/domain/csv-cell.ts'
import { csvLine } from '../../server/src/http/export-stream.ts'
import { parseCsv } from '../src/sources/csv.ts'
import { readRows } from '../src/sources/csv-signals.ts'

const signs = ['=', '+', '-', '@', '＝', '＋', '－', '＠', '﹦', '﹢', '﹣', '﹫', '⁼', '−']
const skipped = [
  '',
  ' ',
  '\n',
  '\r',
  '\t',
  '\v',
  '\f',
  '\0',
  '\x1b',
  '\x7f',
  '\x85',
  '\xa0',
  '\xad',
  '\u2028',
  '\u3000',
]
const invisible = ['\u200b', '\u200e', '\u202e', '\u2066', '\ufeff', '\ufe0f', '\u3164', '\u180e', '\u{e0020}']

const prefix = fc.array(fc.constantFrom(...skipped, ...invisible), { maxLength: 4 }).map((parts) => parts.join(''))
const attack = fc.tuple(prefix, fc.constantFrom(...signs), fc.string()).map((parts) => parts.join(''))
const quotes = fc.integer({ min: 0, max: 3 }).map((count) => "'".repeat(count))
const text = fc.tuple(quotes, fc.oneof(attack, fc.string({ unit: 'binary' }), prefix)).map((parts) => parts.join(''))

test('a cell starts like a formula in no width, and after no white space, control or invisible character', () => {
  fc.assert(fc.property(attack, (formula) => assert.equal(writeCell(formula), `'${formula}`)))
  for (const harmless of ['', 'text', '5 - 3', 'a=b', "'tis", '{"a":1}', '2026-11-15T12:00:00.000Z', '👍', 'é'])
    assert.equal(writeCell(harmless), harmless)
  assert.equal(csvLine([-0.1378, -5, null, '-5']), "-0.1378,-5,,'-5\r\n")
})

test('every text that is exported is read back equal', () => {
  fc.assert(fc.property(text, (each) => assert.equal(readCell(writeCell(each)), each)))
  fc.assert(
    fc.property(fc.array(text, { minLength: 1, maxLength: 3 }), (texts) => {
      const lines = texts.map((each) => csvLine(['positive', each]))
      const rows = parseCsv(['value,comment\r\n', ...lines].join(''))
      const read = readRows(rows, { value: 0, comment: 1 }, 'p').map(({ signal }) => signal?.comment ?? '')
      assert.deepEqual(
        read,
        texts.map((each) => (each.trim() === '' ? '' : each)),
      )
    }),
  )
})
