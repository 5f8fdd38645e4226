import type { Plan } from '../domain/access/plan.ts'
import type { ArchiveRow, ArchiveTable } from '../domain/archive/archive.ts'
import { DomainError } from '../domain/errors.ts'
import { type RuleContext, rowRuleFor, ruleFor } from './row-rules.ts'

export interface ImportRules extends RuleContext {
  /** The plan of the imported organisation. Null to keep the one in the file. */
  plan: Plan | null
}

/**
 * Checks and adapts the rows of an exported organisation. The file may come from its admins, who must not gain by editing it
 * what only the operator can grant. The returned function takes the batches of each table in order.
 */
export function createRowImport(
  file: string,
  { plan, ...context }: ImportRules,
): (table: ArchiveTable, rows: ArchiveRow[]) => ArchiveRow[] {
  const counts = new Map<string, number>()

  return (table, rows) => {
    const columns = Object.entries(table.columns).map(([column, kind]) => ({
      column,
      rule: ruleFor(table.name, column, kind),
      granted: grantedByOperator(table.name, column, plan),
    }))
    const before = counts.get(table.name) ?? 0
    counts.set(table.name, before + rows.length)
    const rowRule = rowRuleFor(table.name)
    const checkRow = (row: ArchiveRow) => {
      for (const [at, { column, rule }] of columns.entries()) {
        const value = row[at] ?? null
        if (value !== null) rule?.(value, context, column)
      }
      rowRule?.(Object.fromEntries(columns.map(({ column }, at) => [column, row[at] ?? null])))
    }
    return rows.map((row, i) => {
      try {
        checkRow(row)
      } catch (error) {
        const problem = error instanceof DomainError ? error.message : 'a value is malformed'
        throw new Error(
          `Row ${before + i + 1} of ${table.name} in ${file} is invalid: ${problem}. Nothing was imported.`,
        )
      }
      return columns.map(({ granted }, at) => (granted === undefined ? (row[at] ?? null) : granted))
    })
  }
}

/** The value of a column that the file cannot decide; undefined for all others. */
function grantedByOperator(table: string, column: string, plan: Plan | null): string | number | undefined {
  if (table === 'organisations' && column === 'plan' && plan !== null) return plan
  // Such repositories may be at private addresses and use the machine's ssh keys.
  if (table === 'repositories' && column === 'connected_by_operator') return 0
  return undefined
}
