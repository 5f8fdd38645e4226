import { DatabaseSync, StatementSync } from 'node:sqlite'
import pg from 'pg'

/** What this process has asked a database for. */
export interface DatabaseWork {
  statements: string[]
  rows: number
  /** Of all values, as text. */
  characters: number
}

type Query = (...args: unknown[]) => unknown

/** Counts the statements that `run` causes, on either engine, and what they return. */
export async function databaseWorkOf(run: () => Promise<unknown>): Promise<DatabaseWork> {
  const work: DatabaseWork = { statements: [], rows: 0, characters: 0 }
  function note(sql: string, rows: Record<string, unknown>[] = []): void {
    work.statements.push(sql)
    work.rows += rows.length
    for (const row of rows) for (const value of Object.values(row)) work.characters += String(value).length
  }
  const { all } = StatementSync.prototype
  const client = pg.Client.prototype as unknown as { query: Query }
  const { query } = client
  StatementSync.prototype.all = function (this: StatementSync, ...parameters: Parameters<typeof all>) {
    const rows = all.apply(this, parameters)
    note(this.sourceSQL, rows)
    return rows
  } as typeof all
  client.query = function (this: pg.Client, ...args) {
    const [config] = args as [string | { text: string }]
    const noted = (result: pg.QueryResult | undefined) =>
      note(typeof config === 'string' ? config : config.text, result?.rows)
    const callback = args.findIndex((arg) => typeof arg === 'function')
    if (callback < 0) {
      const result = query.apply(this, args) as Promise<pg.QueryResult>
      result.then(noted, () => {})
      return result
    }
    const pass = args[callback] as (error: unknown, result: pg.QueryResult) => void
    const wrapped = (error: unknown, result: pg.QueryResult) => {
      noted(result)
      pass(error, result)
    }
    return query.apply(this, args.with(callback, wrapped))
  }
  try {
    await run()
  } finally {
    StatementSync.prototype.all = all
    client.query = query
  }
  return work
}

/** How SQLite would find the rows of these statements, a line for each table. */
export function sqlitePlans(url: string, statements: readonly string[]): string[] {
  const database = new DatabaseSync(url.slice('sqlite:'.length), { readOnly: true })
  try {
    const queries = [...new Set(statements)].filter((sql) => /^\s*(select|with)/.test(sql))
    return queries.flatMap((sql) => {
      const rows = database.prepare(`explain query plan ${sql}`).all(...Array(sql.split('?').length - 1).fill(null))
      return rows.map(({ detail }) => String(detail))
    })
  } finally {
    database.close()
  }
}
