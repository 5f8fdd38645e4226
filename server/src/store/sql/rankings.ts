import type { RankingStore } from '../../domain/impact/ranking.ts'
import { day } from '../../domain/time.ts'
import { type Database, writeRows } from './database.ts'
import { toMillionths } from './millionths.ts'

// Half a percentage point, in millionths.
const notableMove = 5_000
// Differs from every share and every difference.
const none = 9_000_000

export function sqlRankings(database: Database): RankingStore {
  const moved = (column: string) =>
    `abs(coalesce(prompt_standings.${column}, ${none}) - coalesce(excluded.${column}, ${none})) >= ${notableMove}`

  return {
    async save({ organisationId, id }, { effect, positiveShare }, at) {
      await writeRows(
        database,
        `insert into prompt_standings (organisation_id, prompt_id, verdict, difference, positive_share, judged_at)
         values (?, ?, ?, ?, ?, ?)
         on conflict (organisation_id, prompt_id) do update set verdict = excluded.verdict, difference = excluded.difference,
           positive_share = excluded.positive_share, judged_at = excluded.judged_at
         where prompt_standings.verdict is distinct from excluded.verdict or ${moved('difference')} or ${moved('positive_share')}
           or prompt_standings.judged_at < excluded.judged_at - ${day}`,
        [
          organisationId,
          id,
          effect?.verdict ?? null,
          effect && toMillionths(effect.difference),
          positiveShare === null ? null : toMillionths(positiveShare),
          at,
        ],
      )
    },
  }
}
