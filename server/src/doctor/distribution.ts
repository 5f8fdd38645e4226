import { findLayoutProblems, findLocalRemains, findUnreachableNodes } from '../store/postgres/distributed-layout.ts'
import { isDistributed, type ReadRows } from '../store/postgres/distributed-tables.ts'
import { type Finding, fail, ok, warn } from './finding.ts'

const guide = 'docs/operations/citus.md'

/** The layout of a database on a server with Citus. */
export async function checkDistribution(rows: ReadRows): Promise<Finding> {
  if (!(await isDistributed(rows))) {
    return ok('distribution', "the server has Citus, but the tables are not distributed ('promptledger distribute')")
  }
  const problems = await findLayoutProblems(rows)
  if (problems.length > 0) {
    const fix = `Run 'promptledger distribute', which completes it, or undo what was changed by hand: ${guide}`
    return fail('distribution', problems.join(', '), fix)
  }
  const unreachable = await findUnreachableNodes(rows)
  if (unreachable.length > 0) {
    const message = `the coordinator cannot connect to ${unreachable.join(', ')}`
    return fail('distribution', message, `Start it, or promote its standby: ${guide}`)
  }
  const remains = await findLocalRemains(rows)
  if (remains.length > 0) {
    const message = `the coordinator still has rows of before in ${remains.join(', ')}`
    return warn('distribution', message, "Run 'promptledger distribute' again, which removes them")
  }
  const [row] = await rows(
    `select count(*) as shards, count(distinct nodename || ':' || nodeport) as workers, max(count) as most, min(count) as least
     from (select nodename, nodeport, count(*) over (partition by nodename, nodeport) as count from citus_shards
       where table_name = 'signal_usage'::regclass) as placements`,
  )
  return ok('distribution', `${row?.shards} shards on ${row?.workers} workers, ${row?.least} to ${row?.most} on each`)
}
