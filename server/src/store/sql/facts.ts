import type { EntryChanges, FactStore, Findings } from '../../domain/history/facts.ts'
import { isSettled, type Pull } from '../../domain/history/pull.ts'
import type { Push } from '../../domain/history/push.ts'
import type { Repository } from '../../domain/repositories/repository.ts'
import { upsertBriefing } from './briefings.ts'
import { refreshPlaces } from './commit-places.ts'
import { type Database, type Row, type Statement, statement, type Value } from './database.ts'
import { finishDeliveries } from './deliveries.ts'
import { insertReported } from './deployment-changes.ts'
import { applyEntryChanges, sqlDerivedEntries } from './derived-entries.ts'
import { sqlEdits, upsertEdits } from './edits.ts'
import { sqlHiddenCharacters } from './hidden-characters.ts'
import { lockOrganisation } from './organisations.ts'
import { requireLease } from './repositories.ts'
import { movePrompts, sqlRepositoryPrompts } from './repository-prompts.ts'
import { upsertLabel } from './trial-labels.ts'

const noChanges: EntryChanges = { added: [], changed: [], removed: [] }

export function sqlFacts(database: Database): FactStore {
  return {
    ...sqlRepositoryPrompts(database),
    ...sqlEdits(database),
    ...sqlPulls(database),
    ...sqlPushes(database),
    ...sqlDerivedEntries(database),
    ...sqlHiddenCharacters(database),

    async apply(lease, findings) {
      const { repository } = lease
      const statements = [
        ...(findings.paths === undefined || findings.paths.length === 0
          ? []
          : [lockOrganisation(repository.organisationId)]),
        requireLease(lease),
        ...updateRepository(repository, findings),
        ...movePrompts(database, repository, findings),
        ...upsertEdits(database, repository, findings.edits ?? []),
        ...(findings.pulls ?? []).map((pull) => upsertPull(repository, pull)),
        ...(repository.briefsPulls ? (findings.pulls ?? []).flatMap((pull) => upsertBriefing(repository, pull)) : []),
        ...insertPushes(repository, findings.pushes ?? []),
        ...applyEntryChanges(database, repository, findings.entries ?? noChanges),
        ...(findings.rewritten ? [refreshPlaces(repository)] : []),
        ...insertReported(database, repository, findings.deployments ?? []),
        ...(findings.labels ?? []).map((label) => upsertLabel(repository, label)),
        ...finishDeliveries(database, repository.organisationId, findings.deliveries ?? []),
      ]
      // Of all cached data, a sync can change only prompts, pages and deployments, and most deliveries change none of them.
      await (affectsCaches(findings) ? database.writeAndInvalidate(statements) : database.write(statements))
    },
  }
}

function affectsCaches({ paths = [], entries = noChanges, deployments = [], rewritten = false }: Findings): boolean {
  if (rewritten || deployments.length > 0) return true
  return paths.length + entries.added.length + entries.changed.length + entries.removed.length > 0
}

function updateRepository({ organisationId, id }: Repository, findings: Findings): Statement[] {
  const { defaultBranch, tip, webUrl, forgeId, incomplete, unreadPullsBelow, historyBytes } = findings
  const updates: [string, Value | undefined][] = [
    ['default_branch', defaultBranch],
    ['tip', tip],
    ['web_url', webUrl],
    ['forge_id', forgeId],
    ['unread_pulls_below', unreadPullsBelow],
    ['history_bytes', historyBytes],
    ['incomplete', incomplete === undefined ? undefined : Number(incomplete)],
  ]
  return updates.flatMap(([column, value]) => {
    if (value === undefined) return []
    const sql = `update repositories set ${column} = ? where organisation_id = ? and id = ?`
    return [statement(sql, [value, organisationId, id])]
  })
}

function sqlPushes(database: Database): Pick<FactStore, 'pushes'> {
  return {
    async pushes({ organisationId, id }, after) {
      if (after.length === 0) return []
      const sql = `select before_sha, after_sha, pusher, received_at from pushes
        where organisation_id = ? and repository_id = ? and ${database.inJsonArray('after_sha', 'text')}`
      const rows = await database.rows(sql, [organisationId, id, JSON.stringify(after)])
      return rows.map((row) => ({
        before: (row.before_sha as string) || null,
        after: row.after_sha as string,
        pusher: row.pusher as string | null,
        receivedAt: row.received_at as number,
      }))
    },
  }
}

function insertPushes({ organisationId, id }: Repository, pushes: Push[]): Statement[] {
  return pushes.map(({ before, after, pusher, receivedAt }) =>
    statement(
      `insert into pushes (organisation_id, repository_id, after_sha, before_sha, pusher, received_at)
       values (?, ?, ?, ?, ?, ?) on conflict do nothing`,
      [organisationId, id, after, before ?? '', pusher, receivedAt],
    ),
  )
}

type PullFacts = Pick<FactStore, 'pulls' | 'unsettledPulls' | 'unassignedPulls'>

// A document has up to 1 MB: see `maxPullBytes`.
const batchSize = 16

function sqlPulls(database: Database): PullFacts {
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

function upsertPull({ organisationId, id }: Repository, pull: Pull): Statement {
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
