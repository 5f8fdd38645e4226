/**
 * The statements of a migration, one by one: Citus does not take several in one query once tables are distributed. Migrations have
 * no `--` or `;` inside of texts, and a statement ends at the end of a line.
 */
export function splitStatements(sql: string): string[] {
  return sql
    .replaceAll(/--.*$/gm, '')
    .split(/;\s*$/m)
    .map((statement) => statement.trim())
    .filter((statement) => statement !== '')
}
