import pg from 'pg'

// An arbitrary number that nothing else in the same database should use.
export const advisoryLockId = 7_061_951

const int8 = 20
const numeric = 1700

export function getTypeParser(oid: number, format?: 'text' | 'binary') {
  // Counts, IDs and times stay far below 2^53, so they can be plain numbers, as they are in SQLite.
  return oid === int8 || oid === numeric ? Number : pg.types.getTypeParser(oid, format as 'text')
}

const numberedSql = new Map<string, string>()

/** Turns `?` placeholders into `$1`, `$2`, … */
export function numberPlaceholders(sql: string): string {
  let text = numberedSql.get(sql)
  if (text === undefined) {
    let count = 0
    text = sql.replaceAll('?', () => `$${++count}`)
    numberedSql.set(sql, text)
  }
  return text
}
