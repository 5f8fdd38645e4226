import { type PageRequest, pageOffset } from '../../domain/page.ts'
import { countRows, type Database, type Row, type Value } from './database.ts'

interface Listed {
  columns: string
  /** The table and the condition. */
  from: string
  parameters: Value[]
  order: string
}

/** The rows of one page, and how many all pages have: the whole list of an organisation can be of any length. */
export async function pageRows(
  database: Database,
  { columns, from, parameters, order }: Listed,
  request: PageRequest,
): Promise<{ rows: Row[]; totalCount: number }> {
  const [totalCount, rows] = await Promise.all([
    countRows(database, from, parameters),
    database.rows(`select ${columns} from ${from} order by ${order} limit ? offset ?`, [
      ...parameters,
      request.limit,
      pageOffset(request),
    ]),
  ])
  return { rows, totalCount }
}
