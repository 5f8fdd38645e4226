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
