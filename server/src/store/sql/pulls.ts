import type { FactStore } from '../../domain/history/facts.ts'
import { isSettled, type Pull } from '../../domain/history/pull.ts'
import type { Repository } from '../../domain/repositories/repository.ts'
import { type Database, type Row, type Statement, statement } from './database.ts'

type PullFacts = Pick<FactStore, 'pulls' | 'unsettledPulls' | 'pullsTouching'>

export function sqlPulls(database: Database): PullFacts {
  return {
    async pulls({ organisationId, id }, numbers) {
      if (numbers.length === 0) return []
      const sql = `select document from pulls
        where organisation_id = ? and repository_id = ? and number in ${database.jsonElements('bigint')}`
      return (await database.rows(sql, [organisationId, id, JSON.stringify(numbers)])).map(toPull)
    },

    async unsettledPulls({ organisationId, id }) {
      const sql =
        'select document from pulls where organisation_id = ? and repository_id = ? and settled = 0 order by number'
      return (await database.rows(sql, [organisationId, id])).map(toPull)
    },

    async pullsTouching({ organisationId, id }, paths) {
      const pulls = new Map<number, Pull>()
      for (const path of paths) {
        // `%` and `_` in the path may match too many pull requests, which callers tolerate.
        const rows = await database.rows(
          'select document from pulls where organisation_id = ? and repository_id = ? and document like ?',
          [organisationId, id, `%"path":${JSON.stringify(path).replaceAll('\\', '_')}%`],
        )
        for (const pull of rows.map(toPull)) pulls.set(pull.number, pull)
      }
      return [...pulls.values()]
    },
  }
}

export function upsertPull({ organisationId, id }: Repository, pull: Pull): Statement {
  return statement(
    `insert into pulls (organisation_id, repository_id, number, settled, document) values (?, ?, ?, ?, ?)
     on conflict (organisation_id, repository_id, number) do update set
       settled = excluded.settled, document = excluded.document`,
    [organisationId, id, pull.number, Number(isSettled(pull)), JSON.stringify(pull)],
  )
}

function toPull({ document }: Row): Pull {
  return JSON.parse(document as string)
}
