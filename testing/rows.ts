import { queryRows } from './service.ts'

/** Everything that the database holds, but for when keys were used last: that is written now and then, whatever they were used for. */
export async function everyRow(url: string): Promise<Record<string, string[]>> {
  const tables = url.startsWith('sqlite:')
    ? "select name from sqlite_master where type = 'table'"
    : "select table_name as name from information_schema.tables where table_schema = 'public'"
  const names = (await queryRows(url, tables)).map(({ name }) => String(name))
  const found = await Promise.all(
    names.map(async (name) => {
      const rows = await queryRows(url, `select * from ${name}`)
      return [name, rows.map(({ last_used_at: _, ...row }) => JSON.stringify(row, text)).sort()] as const
    }),
  )
  return Object.fromEntries(found)
}

function text(_: string, value: unknown): unknown {
  return typeof value === 'bigint' ? String(value) : value
}
