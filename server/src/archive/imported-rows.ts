import type { Plan } from '../domain/access/plan.ts'
import type { ArchiveRow, ArchiveTable } from '../domain/archive/archive.ts'
import { DomainError } from '../domain/errors.ts'
import type { CheckRows } from './file.ts'
import { type RuleContext, rowRuleFor, ruleFor } from './row-rules.ts'

/**
 * Checks the rows of an exported organisation. The file may come from its admins, who must not gain by editing it what only the
 * operator can grant.
 */
export function importCheck(file: string, context: RuleContext): CheckRows {
  const counts = new Map<string, number>()

  return (table, rows) => {
    const columns = Object.entries(table.columns).map(([column, kind]) => ({
      column,
      rule: ruleFor(table.name, column, kind),
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
    for (const [i, row] of rows.entries()) {
      try {
        checkRow(row)
      } catch (error) {
        const problem = error instanceof DomainError ? error.message : 'a value is malformed'
        throw new Error(
          `Row ${before + i + 1} of ${table.name} in ${file} is invalid: ${problem}. Nothing was changed.`,
        )
      }
    }
  }
}

/** The rows with what the file cannot decide. `plan` is the plan of the organisation; null to keep the one in the file. */
export function withGrants({ name, columns }: ArchiveTable, rows: ArchiveRow[], plan: Plan | null): ArchiveRow[] {
  const granted = Object.keys(columns).map((column) => grantedByOperator(name, column, plan))
  if (granted.every((value) => value === undefined)) return rows
  return rows.map((row) => row.map((value, at) => granted[at] ?? value))
}

/** The value of a column that the file cannot decide; undefined for all others. */
function grantedByOperator(table: string, column: string, plan: Plan | null): string | number | undefined {
  if (table === 'organisations' && column === 'plan' && plan !== null) return plan
  // Such repositories may be at private addresses and use the machine's ssh keys.
  if (table === 'repositories' && column === 'connected_by_operator') return 0
  return undefined
}
