import type { CommitPlaces } from '../../domain/deployments/deployment.ts'
import type { Repository } from '../../domain/repositories/repository.ts'
import { day, hourStart, type Instant } from '../../domain/time.ts'
import { type ColumnTypes, type Database, type Statement, statement } from './database.ts'
import { toPlace } from './deployment-rows.ts'
import { requireLease } from './repositories.ts'

const placeColumns: ColumnTypes = {
  commit_sha: 'text',
  located: 'bigint',
  anchor_sha: 'text',
  checked_tip: 'text',
  checked_at: 'bigint',
}

// Bounds the memory of one request.
const maxPlaces = 10_000
const maxOtherEnvironments = 20
// The line may still get these commits, by a merge that fast-forwards.
const retriedForMs = 7 * day
const notOnLine = 'c.located = 0 and c.checked_tip <> ? and d.received_at >= ?'

export function sqlCommitPlaces(database: Database): CommitPlaces {
  return {
    async places(organisationId, repositoryId, commits) {
      if (commits.length === 0) return new Map()
      const rows = await database.rows(
        `select commit_sha, located, seq, orphaned_at from commit_places
         where organisation_id = ? and repository_id = ? and ${database.inJsonArray('commit_sha', 'text')} and located = 1`,
        [organisationId, repositoryId, JSON.stringify(commits)],
      )
      return new Map(
        rows.flatMap((row) => {
          const place = toPlace(row)
          return place === null ? [] : [[row.commit_sha as string, place]]
        }),
      )
    },

    async placesFrom(organisationId, repositoryId, seq) {
      const rows = await database.rows(
        `select commit_sha, located, seq, orphaned_at from commit_places
         where organisation_id = ? and repository_id = ? and located = 1 and seq >= ? order by seq desc limit ${maxPlaces}`,
        [organisationId, repositoryId, seq],
      )
      return rows.map(toPlace).filter((place) => place !== null)
    },

    async unlocatedDeployments({ organisationId, id }, tip, now, limit) {
      const decides = "d.production = 1 and d.state in ('success', 'inactive')"
      const placeOf = 'c.organisation_id = d.organisation_id and c.repository_id = ? and c.commit_sha = d.commit_sha'
      const isOpen = `(c.commit_sha is null or (${notOnLine}))`
      const [ofRepository, ofPrompts, elsewhere] = await Promise.all([
        database.rows(
          `select d.commit_sha, max(d.id) as newest from deployments d left join commit_places c on ${placeOf}
           where d.organisation_id = ? and d.repository_id = ? and ${decides} and ${isOpen}
           group by d.commit_sha order by 2 desc limit ?`,
          [id, organisationId, id, tip, now - retriedForMs, limit],
        ),
        database.rows(
          `select d.commit_sha, max(d.id) as newest from prompts p
           join deployments d on d.organisation_id = p.organisation_id and d.prompt_id = p.id
           left join commit_places c on ${placeOf}
           where p.organisation_id = ? and p.repository_id = ? and ${decides} and ${isOpen}
           group by d.commit_sha order by 2 desc limit ?`,
          [id, organisationId, id, tip, now - retriedForMs, limit],
        ),
        // Of other environments only what runs there now, and only once: previews are of commits that the line never gets.
        database.rows(
          `select d.commit_sha from (
             select organisation_id, commit_sha, at, id, row_number() over (partition by environment order by at desc, id desc) as place
             from deployments where organisation_id = ? and repository_id = ? and production = 0 and state = 'success') as d
           left join commit_places c on ${placeOf}
           where d.place = 1 and c.commit_sha is null order by d.at desc, d.id desc limit ${maxOtherEnvironments}`,
          [organisationId, id, id],
        ),
      ])
      return [...new Set([...ofRepository, ...ofPrompts, ...elsewhere].map((row) => row.commit_sha as string))]
    },

    async unlocatedVersions({ organisationId, id }, tip, since, limit) {
      const rows = await database.rows(
        // Citus reads one part after the other, because it does not join tables of signals with those of the coordinator.
        `with ours as materialized (select id from prompts where organisation_id = ? and repository_id = ?),
         v as materialized (
           select organisation_id, version, max(hour) as newest from version_sums
           where organisation_id = ? and prompt_id in (select id from ours)
             and hour >= ? and version not like '#%' and version not like ':%'
           group by organisation_id, version)
         select v.version, v.newest from v left join commit_places c
           on c.organisation_id = v.organisation_id and c.repository_id = ? and c.commit_sha = v.version
         where (c.commit_sha is null or (c.located = 0 and c.checked_tip <> ?))
           and not exists (select 1 from history_entries h
             where h.organisation_id = v.organisation_id and h.repository_id = ? and h.dedupe_key = 'c:' || v.version)
         order by v.newest desc limit ?`,
        [organisationId, id, organisationId, hourStart(since), id, tip, id, limit],
      )
      return rows.map((row) => row.version as string)
    },

    async changedPrompts({ organisationId, id }, commits) {
      const rows = await database.rows(
        `select distinct commit_sha from edits where organisation_id = ? and repository_id = ?
           and ${database.inJsonArray('commit_sha', 'text')} and orphaned_at is null`,
        [organisationId, id, JSON.stringify(commits)],
      )
      return new Set(rows.map((row) => row.commit_sha as string))
    },

    async recordPlaces(lease, places, tip, at) {
      if (places.length === 0) return
      const { organisationId, id } = lease.repository
      const records = places.map(({ commit, anchor, located }) => ({
        commit_sha: commit,
        located: Number(located),
        anchor_sha: anchor,
        checked_tip: tip,
        checked_at: at,
      }))
      const seqOf = `(select max(seq) from edits where organisation_id = ? and repository_id = ? and commit_sha = records.anchor_sha)`
      await database.writeAndInvalidate([
        requireLease(lease),
        statement(
          `insert into commit_places
             (organisation_id, repository_id, commit_sha, located, anchor_sha, seq, checked_tip, checked_at)
           select cast(? as bigint), cast(? as bigint), commit_sha, located, anchor_sha, ${seqOf}, checked_tip, checked_at
           from ${database.jsonRecords(placeColumns)} where true
           on conflict (organisation_id, repository_id, commit_sha) do update set located = excluded.located,
             anchor_sha = excluded.anchor_sha, seq = excluded.seq, orphaned_at = null, checked_tip = excluded.checked_tip,
             checked_at = excluded.checked_at
           where commit_places.located = 0`,
          [organisationId, id, organisationId, id, JSON.stringify(records)],
        ),
        statement(
          `delete from commit_places where organisation_id = ? and repository_id = ? and located = 0 and checked_at < ?
             and not exists (select 1 from deployments d where d.organisation_id = commit_places.organisation_id
               and d.repository_id = commit_places.repository_id and d.commit_sha = commit_places.commit_sha)`,
          [organisationId, id, at - retriedForMs],
        ),
      ])
    },
  }
}

/** Locates a commit that changed a prompt, and so is known to be on the line. */
export function placeOfEdit({ organisationId, id }: Repository, commit: string, at: Instant): Statement {
  return statement(
    `insert into commit_places (organisation_id, repository_id, commit_sha, located, anchor_sha, seq, checked_at)
     select organisation_id, repository_id, commit_sha, 1, commit_sha, max(seq), cast(? as bigint) from edits
     where organisation_id = ? and repository_id = ? and commit_sha = ? and orphaned_at is null
     group by organisation_id, repository_id, commit_sha
     on conflict (organisation_id, repository_id, commit_sha) do update set located = 1,
       anchor_sha = excluded.anchor_sha, seq = excluded.seq, orphaned_at = null`,
    [at, organisationId, id, commit],
  )
}

/** A rewrite of the default branch drops commits, or brings them back at another position. */
export function refreshPlaces({ organisationId, id }: Repository): Statement {
  const ofAnchor = `from edits where organisation_id = commit_places.organisation_id
    and repository_id = commit_places.repository_id and commit_sha = commit_places.anchor_sha`
  return statement(
    `update commit_places set seq = (select max(seq) ${ofAnchor}), orphaned_at = (select max(orphaned_at) ${ofAnchor})
     where organisation_id = ? and repository_id = ? and anchor_sha is not null`,
    [organisationId, id],
  )
}
