import { verifyChain } from '../store/sql/audit-chain.ts'
import type { DatabaseReader } from './database.ts'
import { type Finding, fail, listExamples, ok, plural } from './finding.ts'

const maxExamples = 3

/** Every audit entry contains a hash of the one before it, so a changed or missing entry breaks the chain. */
export async function checkAudit(database: DatabaseReader): Promise<Finding> {
  const organisations = await database.rows('select id from organisations order by id')
  const problems: string[] = []
  let entries = 0
  for (const { id } of organisations) {
    const chain = await verifyChain(database.rows, id as number)
    entries += chain.entries
    const { brokenAt } = chain
    if (brokenAt !== null) problems.push(`organisation ${id}: entry ${brokenAt.seq} ${brokenAt.problem}`)
  }
  if (problems.length === 0)
    return ok(
      'audit',
      `${plural(entries, 'entry', 'entries')} of ${plural(organisations.length, 'organisation')} ${entries === 1 ? 'is' : 'are'} unchanged`,
    )
  const message = listExamples(problems.slice(0, maxExamples), problems.length)
  return fail('audit', message, 'Find out who changed the database: docs/operations/doctor.md#audit')
}
