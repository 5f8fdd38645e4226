import type { NewHistoryEntry } from '../../domain/history/entry.ts'
import type { HistoryStore, LiveChange } from '../../domain/history/history.ts'
import { entriesBefore } from '../../domain/page.ts'
import type { Prompt } from '../../domain/prompt.ts'
import { type Database, firstOrNull, only, type Row, type Statement, statement, type Value } from './database.ts'
import { columns, detailColumns, endOf, factColumns, toDetails, toEntry, wentLive } from './history-rows.ts'
import { sqlTimeline } from './timeline.ts'

type PromptKey = Pick<Prompt, 'organisationId' | 'id'>

const factNames = factColumns.map(({ name }) => name).join(', ')

export function sqlHistory(database: Database): HistoryStore {
  return {
    async record(prompt, entry) {
      const [, , , , rows] = await database.change([
        lockHistory(prompt),
        insertEntry(prompt, entry),
        renumberSince(database, prompt, entry.createdAt),
        updateCount(prompt),
        statement(
          `select ${columns} from history_entries where organisation_id = ? and prompt_id = ? and dedupe_key = ?`,
          [prompt.organisationId, prompt.id, entry.dedupeKey],
        ),
      ])
      return toEntry(only(rows))
    },

    async import(prompt, portions) {
      let read = 0
      let earliest = Number.MAX_SAFE_INTEGER
      async function* rows() {
        for await (const entries of portions) {
          for (const entry of entries) earliest = Math.min(earliest, entry.createdAt)
          yield entries.map((entry) => [read++, ...factsOf(entry)])
        }
      }
      const [before, , , after] = await database.stage({
        columns: [{ name: 'line', type: 'bigint' }, ...factColumns],
        portions: rows(),
        targets: ['history_entries'],
        statements: async () => [
          lockHistory(prompt),
          insertStaged(prompt),
          renumberSince(database, prompt, earliest),
          updateCount(prompt),
        ],
      })
      const imported = (only(after).history_count as number) - (only(before).history_count as number)
      return { imported, alreadyThere: read - imported }
    },

    async page(prompt, request) {
      const before = entriesBefore(request)
      const rows = await database.rows(
        `select p.history_count, h.id, h.action, h.user_name, h.user_email, h.commit_sha, h.pr_number, h.pr_url,
           h.branch_name, h.created_at
         from prompts p left join history_entries h
           on h.organisation_id = p.organisation_id and h.prompt_id = p.id
           and h.position <= p.history_count - ? and h.position > p.history_count - ? - ?
         where p.organisation_id = ? and p.id = ? order by h.position desc`,
        [before, before, request.limit, prompt.organisationId, prompt.id],
      )
      return {
        entries: rows.filter((row) => row.id !== null).map(toEntry),
        totalCount: only(rows).history_count as number,
      }
    },

    async find({ organisationId, id }, entryId) {
      const sql = `select ${detailColumns} from history_entries where organisation_id = ? and prompt_id = ? and id = ?`
      return firstOrNull(await database.rows(sql, [organisationId, id, entryId]), toDetails)
    },

    async liveChanges({ organisationId, id }, request) {
      const offset = entriesBefore(request)
      const [count] = await database.rows(
        `select count(*) as count from history_entries where organisation_id = ? and prompt_id = ? and ${wentLive}`,
        [organisationId, id],
      )
      const totalCount = count?.count as number
      if (offset >= totalCount) return { changes: [], earlier: null, totalCount }
      // One newer, which ends the first of them, and one older, which the last is compared with.
      const newer = Math.min(offset, 1)
      const rows = await database.rows(
        `select ${columns}, orphaned_at from history_entries
         where organisation_id = ? and prompt_id = ? and ${wentLive}
         order by created_at desc, id desc limit ? offset ?`,
        [organisationId, id, request.limit + 1 + newer, offset - newer],
      )
      const changes = toChanges(rows).slice(newer)
      return { changes: changes.slice(0, request.limit), earlier: changes[request.limit] ?? null, totalCount }
    },

    timeline: sqlTimeline(database),

    async lastChanges(prompts) {
      const [first] = prompts
      if (first === undefined) return []
      // A cross join, since SQLite then takes the prompts first and looks their entries up, whatever it thinks is cheaper.
      const rows = await database.rows(
        `select asked, ${columns}, orphaned_at
         from ${database.records([{ name: 'asked', type: 'bigint' }])} cross join history_entries
         where organisation_id = ? and id in (
           select newest.id from history_entries as newest where organisation_id = ? and prompt_id = asked and ${wentLive}
           order by created_at desc, id desc limit 2)
         order by created_at desc, id desc`,
        [JSON.stringify(prompts.map(({ id }) => ({ asked: id }))), first.organisationId, first.organisationId],
      )
      const rowsOf = Map.groupBy(rows, (row) => row.asked)
      return prompts.map(({ id }) => toChanges(rowsOf.get(id) ?? []))
    },

    async live({ organisationId, id }, at) {
      const newest = async (among: string, order: string) =>
        firstOrNull(
          await database.rows(
            `select ${detailColumns} from history_entries
             where organisation_id = ? and prompt_id = ? and created_at <= ? and ${wentLive}
               and (orphaned_at is null or orphaned_at > ?) and ${among}
             order by ${order} limit 1`,
            [organisationId, id, at, at],
          ),
          toDetails,
        )
      // Dates of commits can be out of order, the order of the default branch cannot; what people told has only its date.
      const derived = await newest('seq is not null', 'seq desc')
      const told = await newest('seq is null', 'created_at desc, id desc')
      return derived === null || (told !== null && told.createdAt > derived.createdAt) ? told : derived
    },
  }
}

/**
 * Entries are numbered from the oldest on, 1 to `history_count`, in the order in which pages show them: a page is then a
 * range of the index on (prompt, position), wherever it lies. Whoever adds entries holds the prompt's row meanwhile.
 */
export function lockHistory({ organisationId, id }: PromptKey): Statement {
  return statement(
    'update prompts set history_count = history_count where organisation_id = ? and id = ? returning history_count',
    [organisationId, id],
  )
}

function insertEntry({ organisationId, id }: Prompt, entry: NewHistoryEntry): Statement {
  return statement(
    `insert into history_entries (organisation_id, prompt_id, position, ${factNames})
     values (?, ?, 0, ?, ?, ?, ?, ?, ?, ?, ?, ?) on conflict (organisation_id, prompt_id, dedupe_key) do nothing`,
    [organisationId, id, ...factsOf(entry)],
  )
}

// The position is right where all entries are new and come after those already there; renumberSince mends the others.
function insertStaged({ organisationId, id }: Prompt): Statement {
  return statement(
    `insert into history_entries (organisation_id, prompt_id, position, ${factNames})
     select p.organisation_id, p.id, p.history_count + row_number() over (order by s.created_at, s.line),
       ${factColumns.map(({ name }) => `s.${name}`).join(', ')}
     from prompts p cross join staged s where p.organisation_id = ? and p.id = ? order by s.created_at, s.line
     on conflict (organisation_id, prompt_id, dedupe_key) do nothing`,
    [organisationId, id],
  )
}

// Rows are met by their address: by any key, PostgreSQL may read the whole history once for each entry, as long as it has
// not noticed how long the history has become.
export function renumberSince(
  { rowAddress }: Database,
  { organisationId, id }: PromptKey,
  earliest: number,
): Statement {
  return statement(
    `update history_entries set position = ranked.position
     from (
       select ${rowAddress} as address, row_number() over (order by created_at, id) + coalesce((
         select position from history_entries where organisation_id = ? and prompt_id = ? and created_at < ?
         order by created_at desc, id desc limit 1), 0) as position
       from history_entries where organisation_id = ? and prompt_id = ? and created_at >= ?
     ) as ranked
     where history_entries.organisation_id = ? and history_entries.${rowAddress} = ranked.address
       and history_entries.position <> ranked.position`,
    [organisationId, id, earliest, organisationId, id, earliest, organisationId],
  )
}

export function updateCount({ organisationId, id }: PromptKey): Statement {
  return statement(
    `update prompts set history_count = coalesce((
       select position from history_entries where organisation_id = ? and prompt_id = ?
       order by created_at desc, id desc limit 1), 0)
     where organisation_id = ? and id = ? returning history_count`,
    [organisationId, id, organisationId, id],
  )
}

function factsOf(entry: NewHistoryEntry): Value[] {
  const { dedupeKey, action, user, commitSha, prNumber, prUrl, branchName, createdAt } = entry
  return [dedupeKey, action, user.name, user.email, commitSha, prNumber, prUrl, branchName, createdAt]
}

/** Rows of changes that followed each other, newest first. */
function toChanges(rows: Row[]): LiveChange[] {
  return rows.map((row, i) => ({ entry: toEntry(row), until: endOf(row.orphaned_at, rows[i - 1]?.created_at) }))
}
