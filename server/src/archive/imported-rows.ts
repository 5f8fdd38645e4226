import type { Plan } from '../domain/access/plan.ts'
import type { ArchiveRow, ArchiveTable } from '../domain/archive/archive.ts'
import { DomainError } from '../domain/errors.ts'
import { type RuleContext, ruleFor } from './row-rules.ts'

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
    return rows.map((row, i) =>
      columns.map(({ column, rule, granted }, at) => {
        const value = row[at] ?? null
        try {
          if (value !== null) rule?.(value, context, column)
        } catch (error) {
          const problem = error instanceof DomainError ? error.message : `${column} is invalid`
          throw new Error(
            `Row ${before + i + 1} of ${table.name} in ${file} is invalid: ${problem}. Nothing was imported.`,
          )
        }
        return granted === undefined ? value : granted
      }),
    )
  }
}

/** The value of a column that the file cannot decide; undefined for all others. */
function grantedByOperator(table: string, column: string, plan: Plan | null): string | number | undefined {
  if (table === 'organisations' && column === 'plan' && plan !== null) return plan
  // Such repositories may be at private addresses and use the machine's ssh keys.
  if (table === 'repositories' && column === 'connected_by_operator') return 0
  return undefined
}
