import assert from 'node:assert/strict'
import { existsSync, readFileSync } from 'node:fs'
import { describe, test } from 'node:test'

const root = new URL('../../../', import.meta.url)
const testFile =
  /(?:server|clients?|console|examples)\/test\/[\w/-]+\.test\.ts|clients\/python\/tests\/\w+\.py|faults\/[\w/-]+\.ts/
    .source
const namedTest = new RegExp(`^\`(${testFile})\` \`([^\`]+)\`$`)

/** Problems with the last cell of a row, which names tests by file and name. */
function problemsIn(cell: string): string[] {
  return cell.split('<br>').flatMap((part) => {
    const [, file = '', name = ''] = namedTest.exec(part.trim()) ?? []
    if (file === '') return [`${part}: not a test file followed by a test name`]
    const url = new URL(file, root)
    if (!existsSync(url)) return [`${file} does not exist`]
    return hasTest(readFileSync(url, 'utf8'), name) ? [] : [`${file} has no test '${name}'`]
  })
}

/** Whether the source has a test, a fault or an attack of exactly this name. In Python, it is the name of a function. */
function hasTest(source: string, name: string): boolean {
  if (/^test_\w+$/.test(name)) return source.includes(`\ndef ${name}(`)
  return new RegExp(`\\b(?:test\\(|pythonTest\\(|name:|title:)\\s*(['"\`])${RegExp.escape(name)}\\1,`).test(source)
}

/** The rows of all tables whose last column says what holds the answer. */
function rows(document: string): string[][] {
  const lines = document.split('\n').map((line) => (line.startsWith('|') ? line.slice(1, -1).split(' | ') : []))
  let holding = false
  return lines.filter((cells) => {
    if (cells.length === 0) holding = false
    if (cells.at(-1)?.trim() === 'tested by') holding = true
    return holding && !/^-+$|^ ?threat$/.test(cells[0]?.split('|')[0] ?? '')
  })
}

describe('The threat model', () => {
  const document = readFileSync(new URL('docs/threat-model.md', root), 'utf8')

  test('every threat has a mitigation and names tests that exist', () => {
    const found = rows(document)
    assert.ok(found.length > 50, `${found.length} threats`)
    for (const [threat, answer, cell = '', ...more] of found) {
      assert.ok(threat?.trim() && answer?.trim() && cell.trim() && more.length === 0, String(threat))
      assert.deepEqual(problemsIn(cell), [], String(threat))
    }
    const named = document.match(new RegExp(`\`(?:${testFile})\` \``, 'g'))?.length
    const checked = found.reduce((sum, cells) => sum + (cells[2] as string).split('<br>').length, 0)
    assert.equal(checked, named, 'a test is named outside the tables')
  })

  test('a wrong test name or file name is detected', () => {
    const [file, name] = ['server/test/project/threat-model.test.ts', 'a wrong test name or file name is detected']
    assert.deepEqual(problemsIn(`\`${file}\` \`${name}\``), [])
    const wrong = [
      `\`${file}\` \`${name}er\``,
      `\`${file}\` \`${name.slice(1)}\``,
      `\`${file}\` \`${name.slice(0, -1)}\``,
      `\`server/test/no-such.test.ts\` \`${name}\``,
      `\`server/src/main.ts\` \`${name}\``,
      `\`${file}\``,
      '',
    ]
    for (const cell of wrong) assert.equal(problemsIn(cell).length, 1, cell)
  })
})
