import type { FactStore } from '../../domain/history/facts.ts'
import { isSettled, type Pull } from '../../domain/history/pull.ts'
import type { Repository } from '../../domain/repositories/repository.ts'
import { type Database, type Row, type Statement, statement } from './database.ts'

type PullFacts = Pick<FactStore, 'pulls' | 'unsettledPulls' | 'unassignedPulls'>

// A document has up to 1 MB: see `maxPullBytes`.
const batchSize = 16

export function sqlPulls(database: Database): PullFacts {
  async function* batches({ organisationId, id }: Repository, condition: string): AsyncGenerator<Pull[]> {
    const sql = `select document from pulls
      where organisation_id = ? and repository_id = ? and number > ? and ${condition} order by number limit ${batchSize}`
    let last = -1
    for (;;) {
      const pulls = (await database.rows(sql, [organisationId, id, last])).map(toPull)
      if (pulls.length > 0) yield pulls
      if (pulls.length < batchSize) return
      last = (pulls.at(-1) as Pull).number
    }
  }

  return {
    async pulls({ organisationId, id }, numbers) {
      if (numbers.length === 0) return []
      const sql = `select document from pulls
        where organisation_id = ? and repository_id = ? and number in ${database.jsonElements('bigint')}`
      return (await database.rows(sql, [organisationId, id, JSON.stringify(numbers)])).map(toPull)
    },

    unsettledPulls: (repository) => batches(repository, 'settled = 0'),

    unassignedPulls: (repository, includeSettled) =>
      batches(repository, `${includeSettled ? '' : 'settled = 0 and '}document like '%"promptId":null%'`),
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
