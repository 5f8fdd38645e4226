import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { readFileSync, writeFileSync } from 'node:fs'
import { gunzipSync, gzipSync } from 'node:zlib'
import { archiveTables } from '../server/src/store/sql/archive-tables.ts'

export type ArchiveEdit = [table: string, column: string, value: string | number | null, row?: number]

/**
 * Changes one column in a row of a table, by default the first that has a value there, and the checksum with it. Writes the
 * result to `target` and returns that.
 */
export function writeEditedArchive(file: string, target: string, edits: ArchiveEdit[]): string {
  const lines = gunzipSync(readFileSync(file)).toString().trimEnd().split('\n')
  const columnsOf = (name: string) => Object.keys(archiveTables.find((table) => table.name === name)?.columns ?? {})
  for (const [table, column, value, row] of edits) {
    const start = lines.findIndex((line) => line.startsWith(`{"table":"${table}"`))
    const end = lines.findIndex((line, i) => i > start && !line.startsWith('['))
    const place = columnsOf(table).indexOf(column)
    assert.ok(place >= 0 && end > start + 1, `${table}.${column} has no row to edit`)
    const isFirst = (line: string, i: number) => i > start && i < end && JSON.parse(line)[place] !== null
    const at = row === undefined ? lines.findIndex(isFirst) : start + 1 + row
    lines[at] = JSON.stringify(JSON.parse(lines[at] as string).with(place, value))
  }
  const { end } = JSON.parse(lines.pop() as string)
  const sha256 = createHash('sha256')
    .update(lines.map((line) => `${line}\n`).join(''))
    .digest('hex')
  writeFileSync(target, gzipSync(`${lines.join('\n')}\n${JSON.stringify({ end: { ...end, sha256 } })}\n`))
  return target
}
