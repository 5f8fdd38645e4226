import type { Actor } from '../../domain/access/audit.ts'
import type { LandedChange } from '../../domain/history/change.ts'
import type { NewHistoryEntry } from '../../domain/history/entry.ts'
import type { HistoryStore } from '../../domain/history/history.ts'
import { searchedLength } from '../../domain/history/version-search.ts'
import { pageOffset } from '../../domain/page.ts'
import type { Prompt } from '../../domain/prompt.ts'
import type { Instant } from '../../domain/time.ts'
import { typesOf } from './archive-tables.ts'
import { auditOf } from './audit-chain.ts'
import {
  type ColumnType,
  type Database,
  firstOrNull,
  type Row,
  requireRow,
  type Statement,
  statement,
  type Value,
} from './database.ts'
import { lockHistory, renumberSince, updateCount } from './history-positions.ts'
import { columns, detailColumns, factNames, toDetails, toEntry, wentLive } from './history-rows.ts'
import { queueForJudge } from './judge-queue.ts'
import { sqlPullSpans, sqlTimeline, sqlTimelineAfter } from './timeline.ts'

export function sqlHistory(database: Database): HistoryStore {
  return {
    async record(prompt, entry, at, by) {
      let isNew = false
      const insert: Statement = {
        ...insertEntry(prompt, entry, by),
        andThen: (rows) => {
          isNew = rows.length > 0
          return []
        },
      }
      const audit = ({ id, action, commit_sha }: Row): Statement => {
        const details = { entry_id: id as number, action: action as string, commit_sha: commit_sha as string }
        return auditOf(prompt, 'history.recorded', at, by, details)
      }
      const [, , , , rows] = await database.writeAndInvalidate([
        lockHistory(prompt),
        insert,
        renumberSince(database, prompt, entry.createdAt),
        updateCount(prompt),
        {
          ...statement(
            `select ${columns} from history_entries where organisation_id = ? and prompt_id = ? and dedupe_key = ?`,
            [prompt.organisationId, prompt.id, entry.dedupeKey],
          ),
          andThen: (rows) => (isNew ? rows.map(audit) : []),
        },
      ])
      return toEntry(requireRow(rows))
    },

    async import(prompt, batches, at, by) {
      let read = 0
      let earliest = Number.MAX_SAFE_INTEGER
      async function* rows() {
        for await (const entries of batches) {
          for (const entry of entries) earliest = Math.min(earliest, entry.createdAt)
          yield entries.map((entry) => [read++, ...factsOf(entry)])
        }
      }
      let before = 0
      let imported = 0
      const countBefore = (rows: Row[]): Statement[] => {
        before = requireRow(rows).history_count as number
        return []
      }
      const audit = (rows: Row[]): Statement[] => {
        imported = (requireRow(rows).history_count as number) - before
        return imported === 0 ? [] : [auditOf(prompt, 'history.imported', at, by, { entries: imported })]
      }
      await database.stage({
        columns: { line: 'bigint', ...stagedTypes },
        batches: rows(),
        targets: ['history_entries'],
        statements: async () => [
          { ...lockHistory(prompt), andThen: countBefore },
          insertStaged(prompt),
          renumberSince(database, prompt, earliest),
          { ...updateCount(prompt), andThen: audit },
          queueForJudge(database, prompt.organisationId, [prompt.id]),
        ],
      })
      return { imported, alreadyThere: read - imported }
    },

    async page(prompt, request) {
      const offset = pageOffset(request)
      const rows = await database.rows(
        `select p.history_count, h.id, h.action, h.user_name, h.user_email, h.commit_sha, h.pr_number, h.pr_url,
           h.branch_name, h.created_at
         from prompts p left join history_entries h
           on h.organisation_id = p.organisation_id and h.prompt_id = p.id
           and h.position <= p.history_count - ? and h.position > p.history_count - ? - ?
         where p.organisation_id = ? and p.id = ? order by h.position desc`,
        [offset, offset, request.limit, prompt.organisationId, prompt.id],
      )
      return {
        entries: rows.filter((row) => row.id !== null).map(toEntry),
        totalCount: requireRow(rows).history_count as number,
      }
    },

    async find({ organisationId, id }, entryId) {
      const sql = `select ${detailColumns} from history_entries where organisation_id = ? and prompt_id = ? and id = ?`
      return firstOrNull(await database.rows(sql, [organisationId, id, entryId]), toDetails)
    },

    async promptIdOf(organisationId, entryId) {
      const sql = 'select prompt_id from history_entries where organisation_id = ? and id = ?'
      return firstOrNull(await database.rows(sql, [organisationId, entryId]), (row) => row.prompt_id as number)
    },

    timeline: sqlTimeline(database),
    timelineAfter: sqlTimelineAfter(database),
    pullSpans: sqlPullSpans(database),

    async landedChanges(prompt) {
      // One row of JSON: a row per change takes both drivers twice as long.
      const { sql, parameters } = liveEntriesOf(prompt)
      const lists = landedColumns.map((name) => `${database.jsonArray(name)} as ${name}`)
      const rows = await database.rows(`select ${lists.join(', ')} from (${sql}) as landed`, parameters)
      return toLandedChanges(requireRow(rows))
    },

    async newestChanges(prompts, limit) {
      const [first] = prompts
      if (first === undefined) return []
      const { sql, parameters } = newestEntriesOf(database, first.organisationId, prompts, limit)
      const rowsByPrompt = Map.groupBy(await database.rows(sql, parameters), (row) => row.prompt_id)
      return prompts.map(({ id }) => (rowsByPrompt.get(id) ?? []).map(toLandedChange))
    },

    entries: (organisationId, ids) => entriesById(database, organisationId, ids, detailColumns, toDetails),

    plainEntries: (organisationId, ids) => entriesById(database, organisationId, ids, columns, toEntry),

    async searchTexts(organisationId, ids) {
      const rows = await database.rows(
        `select id, user_name, user_email, commit_sha, pr_number, substr(message, 1, ${searchedLength}) as message
         from history_entries where ${database.haveIds()}`,
        [organisationId, JSON.stringify(ids)],
      )
      return rows.map((row) => ({
        id: row.id as number,
        user: { name: row.user_name as string, email: row.user_email as string },
        commitSha: row.commit_sha as string,
        prNumber: row.pr_number as number | null,
        message: row.message as string | null,
      }))
    },

    async entriesOfCommits({ organisationId, id, repositoryId }, commits) {
      if (commits.length === 0) return new Map()
      const wanted = JSON.stringify(commits)
      // Each of its own commit. Of those that a pull request brought with others, the entry is that of the pull request.
      const [own, merged] = await Promise.all([
        database.rows(
          `select commit_sha as blamed, ${detailColumns} from history_entries
           where organisation_id = ? and prompt_id = ? and ${wentLive} and commit_sha in ${database.jsonElements('text')}
           order by id`,
          [organisationId, id, wanted],
        ),
        database.rows(
          `select brought.commit_sha as blamed, ${detailColumns.replaceAll(/\b[a-z_]+\b/g, 'h.$&')}
           from edits brought join history_entries h on h.organisation_id = brought.organisation_id
             and h.prompt_id = brought.prompt_id and h.pr_number = brought.pull and h.repository_id = brought.repository_id
           where brought.organisation_id = ? and brought.repository_id = ? and brought.prompt_id = ?
             and h.action = 'pr_merged' and brought.commit_sha in ${database.jsonElements('text')}
           order by h.id`,
          [organisationId, repositoryId, id, wanted],
        ),
      ])
      return new Map([...merged, ...own].map((row) => [row.blamed as string, toDetails(row)]))
    },

    async versionBlobs(organisationId, promptIds, cursor, limit) {
      // The plus sign makes both engines follow the order of the index instead of sorting the versions of all these prompts.
      const conditions = [
        statement('organisation_id = ?', [organisationId]),
        ...(promptIds === null
          ? []
          : [statement(database.inJsonArray('+prompt_id', 'bigint'), [JSON.stringify(promptIds)])]),
        ...(cursor === null
          ? []
          : [statement('(prompt_id, created_at, id) < (?, ?, ?)', [cursor.promptId, cursor.createdAt, cursor.id])]),
      ]
      const rows = await database.rows(
        `select id, prompt_id, created_at, repository_id, after_blob from history_entries
         where ${conditions.map(({ sql }) => sql).join(' and ')} and ${wentLive}
         order by prompt_id desc, created_at desc, id desc limit ?`,
        [...conditions.flatMap(({ parameters }) => parameters), limit],
      )
      return rows.map((row) => ({
        id: row.id as number,
        promptId: row.prompt_id as number,
        createdAt: row.created_at as number,
        repositoryId: row.repository_id as number | null,
        blob: row.after_blob as string | null,
      }))
    },

    async firstLanded({ organisationId, id }) {
      const sql = `select ${detailColumns} from history_entries
        where organisation_id = ? and prompt_id = ? and seq is not null and orphaned_at is null order by seq limit 1`
      return firstOrNull(await database.rows(sql, [organisationId, id]), toDetails)
    },

    async live(prompt, at, now) {
      const times = liveTimes(liveEntriesOf(prompt), now)
      const rows = await database.rows(
        `select ${detailColumns} from (${times.sql}) as times join history_entries on organisation_id = ? and id = live_id
         where live_from <= ? and (orphaned_at is null or orphaned_at > ?)
         order by ${newestLiveFirst} limit 1`,
        [...times.parameters, prompt.organisationId, at, at],
      )
      return firstOrNull(rows, toDetails)
    },
  }
}

/** Of each prompt, the newest changes that reached the default branch. */
function newestEntriesOf(database: Database, organisationId: number, prompts: Prompt[], limit: number): Statement {
  return statement(
    // A cross join makes SQLite start with the prompts, and the plus sign keeps it from searching all entries of the organisation for
    // the IDs of each.
    `select ${landedColumns.join(', ')}, prompt_id
      from ${database.jsonRecords({ requested: 'bigint' })} cross join history_entries
      where +organisation_id = ? and id in (
        select newest.id from history_entries as newest
        where organisation_id = ? and prompt_id = requested and ${wentLive}
        order by created_at desc, id desc limit ${limit})`,
    [JSON.stringify(prompts.map(({ id }) => ({ requested: id }))), organisationId, organisationId],
  )
}

const landedColumns = ['id', 'commit_sha', 'seq', 'created_at', 'orphaned_at'] as const

/** Of one row with a list for each column. */
function toLandedChanges(row: Row): LandedChange[] {
  const [ids, shas, seqs, created, orphaned] = landedColumns.map(
    (name) => JSON.parse((row[name] as string | null) ?? '[]') ?? [],
  )
  return ids.map((id: number, i: number) => ({
    id,
    commitSha: shas[i],
    seq: seqs[i],
    createdAt: created[i],
    orphanedAt: orphaned[i],
  }))
}

function toLandedChange(row: Row): LandedChange {
  return {
    id: row.id as number,
    commitSha: row.commit_sha as string,
    seq: row.seq as number | null,
    createdAt: row.created_at as number,
    orphanedAt: row.orphaned_at as number | null,
  }
}

function insertEntry({ organisationId, id }: Prompt, entry: NewHistoryEntry, by: Actor): Statement {
  return statement(
    `insert into history_entries (organisation_id, prompt_id, position, key_id, ${factNames})
     values (?, ?, 0, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) on conflict (organisation_id, prompt_id, dedupe_key) do nothing
     returning id`,
    [organisationId, id, by?.keyId ?? null, ...factsOf(entry)],
  )
}

const stagedTypes = Object.fromEntries(
  factNames.split(', ').map((name) => [name, typesOf('history_entries')[name] as ColumnType]),
)

// The positions are final if all entries are new and later than the existing ones. Otherwise renumberSince corrects them.
function insertStaged({ organisationId, id }: Prompt): Statement {
  return statement(
    `insert into history_entries (organisation_id, prompt_id, position, ${factNames})
     select p.organisation_id, p.id, p.history_count + row_number() over (order by s.created_at, s.line),
       ${factNames.replaceAll(/\w+/g, 's.$&')}
     from prompts p cross join staged s where p.organisation_id = ? and p.id = ? order by s.created_at, s.line
     on conflict (organisation_id, prompt_id, dedupe_key) do nothing`,
    [organisationId, id],
  )
}

async function entriesById<Entry>(
  database: Database,
  organisationId: number,
  ids: number[],
  columns: string,
  toEntry: (row: Row) => Entry,
): Promise<Entry[]> {
  const sql = `select ${columns} from history_entries where ${database.haveIds()}`
  const rows = await database.rows(sql, [organisationId, JSON.stringify(ids)])
  const byId = new Map(rows.map((row) => [row.id as number, toEntry(row)]))
  return ids.map((id) => byId.get(id)).filter((entry) => entry !== undefined)
}

function factsOf(entry: NewHistoryEntry): Value[] {
  const { dedupeKey, action, user, commitSha, prNumber, prUrl, branchName, createdAt } = entry
  return [dedupeKey, action, user.name, user.email, commitSha, prNumber, prUrl, branchName, createdAt]
}

/** Entries that went live. */
function liveEntriesOf({ organisationId, id }: Prompt): Statement {
  return statement(
    `select ${landedColumns.join(', ')}, prompt_id from history_entries where organisation_id = ? and prompt_id = ? and ${wentLive}`,
    [organisationId, id],
  )
}

/**
 * When each change went live. Commit dates can go backwards along the default branch: a commit is made before it is pushed, and
 * clocks differ. But a change cannot go live before the one that it follows. So changes from git go live in the order of the
 * branch (`seq`), each at the latest date up to it. A date after `now` is wrong and counts as that of the change before.
 * Submitted changes have only their date.
 */
function liveTimes(source: Statement, now: Instant): Statement {
  const date = 'case when orphaned_at < created_at then orphaned_at else created_at end'
  const latest = `max(case when created_at <= ? then ${date} end) over (partition by prompt_id, seq is null order by seq)`
  return statement(
    `select id as live_id, coalesce(seq, 0) as live_order,
       case when seq is null then created_at else coalesce(${latest}, created_at) end as live_from
     from (${source.sql}) as entries`,
    [now, ...source.parameters],
  )
}

const newestLiveFirst = 'live_from desc, live_order desc, live_id desc'
