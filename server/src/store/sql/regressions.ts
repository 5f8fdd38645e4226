import type { HistoryEntry } from '../../domain/history/entry.ts'
import { pageOffset } from '../../domain/page.ts'
import type { Prompt } from '../../domain/prompt.ts'
import type {
  Dismissal,
  ListedRegression,
  Regression,
  RegressionFigures,
  RegressionState,
  RegressionStore,
  Repair,
} from '../../domain/regressions/regression.ts'
import { auditEntry } from './audit-chain.ts'
import {
  countRows,
  type Database,
  firstOrNull,
  type Row,
  type Statement,
  statement,
  type Value,
  writeRows,
} from './database.ts'
import { prefixedEntryColumns, toPrefixedEntry } from './history-rows.ts'
import { fromMillionths, toMillionths } from './millionths.ts'
import { decideNoticeAgain, endNotice, openNotice, repeatAgain } from './notice-changes.ts'
import { readSteps, toTriaged, triageColumns, triageStatement } from './triage.ts'

const figureColumns = [
  ...['rate_before', 'rate_after', 'difference', 'low', 'high', 'explanation', 'evidence'],
  ...['signals_before', 'signals_after', 'live_from'],
]
export const columns = `id, prompt_id, entry_id, commit_sha, state, opened_at, ${figureColumns.join(', ')}, repaired_at,
  repaired_by, repaired_entry_id, withdrawn_at, ${triageColumns}`
const setFigures = figureColumns.map((name) => `${name} = ?`).join(', ')
// A withdrawn regression is stored as a repaired one, which the previous version understands.
const isInState: Record<RegressionState, string> = {
  open: "r.state = 'open'",
  repaired: "r.state = 'repaired' and r.withdrawn_at is null",
  withdrawn: "r.state = 'repaired' and r.withdrawn_at is not null",
  dismissed: "r.state = 'dismissed'",
}
const maxOfPrompt = 1_000
const maxOpenPrompts = 1_000

export function sqlRegressions(database: Database): RegressionStore {
  const ofPrompt = 'regressions where organisation_id = ? and prompt_id = ?'

  async function find(prompt: Prompt, id: number): Promise<ListedRegression | null> {
    const { sql, parameters } = selectOne(prompt, id)
    return firstOrNull(await database.rows(sql, parameters), toListedRegression)
  }

  return {
    async ofPrompt({ organisationId, id }) {
      const sql = `select ${columns} from ${ofPrompt} order by opened_at desc, id desc limit ${maxOfPrompt}`
      return (await database.rows(sql, [organisationId, id])).map(toRegression)
    },

    find,

    async open({ organisationId, id }, change, figures, at) {
      const names = `organisation_id, prompt_id, entry_id, commit_sha, state, opened_at, ${figureColumns.join(', ')}`
      await database.write([
        {
          ...statement(
            `insert into regressions (${names}) values (?, ?, ?, ?, 'open', ?, ${figureColumns.map(() => '?').join(', ')})
             on conflict (organisation_id, prompt_id, entry_id) do nothing returning id`,
            [organisationId, id, change.id, change.commitSha, at, ...fromFigures(figures)],
          ),
          andThen: (rows) => rows.map((row) => openNotice(organisationId, row.id as number, at)),
        },
      ])
    },

    async update(prompt, id, figures) {
      const update = updateWhere(prompt, id, "state = 'open'", setFigures, fromFigures(figures))
      await database.write([thenNotice(update, () => decideNoticeAgain(prompt.organisationId, id))])
    },

    async repair(prompt, id, { at, by, entryId }) {
      const repaired = "state = 'repaired', repaired_at = ?, repaired_by = ?, repaired_entry_id = ?"
      const update = updateWhere(prompt, id, "state = 'open'", repaired, [at, by, entryId])
      const { organisationId } = prompt
      const merged = statement(
        `update proposals set state = 'merged', active = null where organisation_id = ? and regression_id = ? and pr_number = (
           select pr_number from history_entries where organisation_id = ? and id = ?)`,
        [organisationId, id, organisationId, entryId],
      )
      await database.write([thenNotice(update, () => endNotice(organisationId, id, at)), merged])
    },

    async withdraw(prompt, id, { at, explanation }) {
      const withdrawn = "state = 'repaired', withdrawn_at = ?, explanation = ?"
      const update = updateWhere(prompt, id, "state = 'open'", withdrawn, [at, explanation])
      await database.write([thenNotice(update, () => endNotice(prompt.organisationId, id, at))])
    },

    async reopen(prompt, id, figures, at) {
      const reopened = `state = 'open', opened_at = ?, repaired_at = null, repaired_by = null, withdrawn_at = null, acknowledged_at = null,
        acknowledged_by = null, snoozed_until = null, ${setFigures}`
      const byItself = `state = 'repaired' and (withdrawn_at is not null or (repaired_by = 'rate' and repaired_entry_id is null))`
      const update = updateWhere(prompt, id, byItself, reopened, [at, ...fromFigures(figures)])
      await database.write([thenNotice(update, () => openNotice(prompt.organisationId, id, at))])
    },

    async moveTo(prompt, id, entryId) {
      const { organisationId, id: promptId } = prompt
      const isFree = `not exists (select 1 from regressions r where r.organisation_id = ? and r.prompt_id = ? and r.entry_id = ?)`
      const { sql, parameters } = updateWhere(prompt, id, isFree, 'entry_id = ?', [entryId])
      await writeRows(database, sql, [...parameters, organisationId, promptId, entryId])
    },

    async dismiss(prompt, id, note, at, by) {
      const { organisationId, publicId, name } = prompt
      let outcome: Dismissal = { kind: 'unknown' }
      const read: Statement = {
        ...selectOne(prompt, id),
        andThen: ([row]) => {
          if (row === undefined) return []
          const regression = toListedRegression(row)
          outcome = regression.state === 'dismissed' ? { kind: 'dismissed', regression } : { kind: 'closed' }
          return []
        },
      }
      const dismissed =
        "state = 'dismissed', dismissed_at = ?, key_id = ?, key_name = (select name from api_keys where id = ?), note = ?"
      const update = updateWhere(prompt, id, "state = 'open'", dismissed, [at, by.keyId, by.keyId, note])
      await database.write([
        {
          ...update,
          sql: `${update.sql} returning entry_id`,
          andThen: ([row]) => {
            if (row === undefined) return [read]
            const details = { prompt: publicId, entry_id: row.entry_id as number, note }
            const subject = { id, name }
            return [
              endNotice(organisationId, id, at),
              read,
              auditEntry({ organisationId, by, at, action: 'regression.dismissed', subject, details }),
            ]
          },
        },
      ])
      return outcome
    },

    async triage(prompt, id, triage, at, by) {
      const { organisationId } = prompt
      const update = triageStatement({ kind: 'regression', id, prompt }, "state = 'open'", triage, at, by)
      const [rows = []] = await database.write([update, repeatAgain(organisationId, id, at)])
      const found = await find(prompt, id)
      return found === null || rows.length > 0 ? found : 'closed'
    },

    steps: (organisationId, id) => readSteps(database, 'regression', organisationId, id),

    async page(organisationId, { state, promptIds, owner = null }, { by, descending }, request) {
      const direction = descending ? 'desc' : 'asc'
      const conditions = [
        ...(state === null ? [] : [isInState[state]]),
        ...(promptIds === null ? [] : [`r.prompt_id in ${database.jsonElements('bigint')}`]),
        ...(owner === null ? [] : ['lower(coalesce(r.owner, h.user_email)) = ?']),
      ]
      const condition = conditions.length === 0 ? '1 = 1' : conditions.join(' and ')
      const parameters = [
        organisationId,
        ...(promptIds === null ? [] : [JSON.stringify(promptIds)]),
        ...(owner === null ? [] : [owner.toLowerCase()]),
      ]
      const listed = selectListed(
        condition,
        [...parameters, request.limit, pageOffset(request)],
        `order by r.${by} ${direction}, r.id ${direction} limit ? offset ?`,
      )
      const [totalCount, rows] = await Promise.all([
        countRows(database, existing(condition), parameters),
        database.rows(listed.sql, listed.parameters),
      ])
      return { regressions: rows.map(toListedRegression), totalCount }
    },

    async worstOpen(organisationId, promptIds) {
      if (promptIds.length === 0) return new Map()
      const condition = `r.state = 'open' and r.prompt_id in ${database.jsonElements('bigint')}`
      const { sql, parameters } = selectListed(
        condition,
        [organisationId, JSON.stringify(promptIds)],
        'order by r.difference desc, r.opened_at, r.id',
      )
      // The last one of each prompt stays.
      const rows = (await database.rows(sql, parameters)).map(toListedRegression)
      return new Map(rows.map((regression) => [regression.promptId, regression]))
    },

    async openCounts(limit) {
      const rows = await database.rows(
        `select o.name as organisation, p.name as prompt, count(*) as count from regressions r
         join prompts p on p.organisation_id = r.organisation_id and p.id = r.prompt_id
         join organisations o on o.id = r.organisation_id
         where r.state = 'open' and p.deleted_at is null group by o.name, p.name order by o.name, p.name limit ?`,
        [limit],
      )
      return rows.map((row) => ({
        organisation: row.organisation as string,
        prompt: row.prompt as string,
        count: row.count as number,
      }))
    },

    async openPrompts() {
      const rows = await database.rows(
        `select id, organisation_id, history_count from (
           select p.id, p.organisation_id, p.history_count,
             row_number() over (partition by p.organisation_id order by max(r.id) desc) as turn
           from regressions r join prompts p on p.organisation_id = r.organisation_id and p.id = r.prompt_id
           where r.state = 'open' and p.deleted_at is null group by p.id, p.organisation_id, p.history_count) as open
         order by turn limit ${maxOpenPrompts}`,
      )
      return rows.map((row) => ({
        promptId: row.id as number,
        organisationId: row.organisation_id as number,
        historyCount: row.history_count as number,
      }))
    },
  }
}

/** Regressions of prompts that exist, on changes that are part of the history. */
function existing(condition: string): string {
  return `regressions r join prompts p on p.organisation_id = r.organisation_id and p.id = r.prompt_id
    join history_entries h on h.organisation_id = r.organisation_id and h.id = r.entry_id
    where r.organisation_id = ? and p.deleted_at is null and ${condition}`
}

function selectListed(condition: string, parameters: Value[], order: string): Statement {
  const own = columns.replaceAll(/\w+/g, 'r.$&')
  const from = existing(condition).replace(
    'where',
    'left join history_entries f on f.organisation_id = r.organisation_id and f.id = r.repaired_entry_id where',
  )
  return statement(
    `select ${own}, p.public_id, p.name, ${prefixedEntryColumns('h', 'change')}, ${prefixedEntryColumns('f', 'fix')}
     from ${from} ${order}`,
    parameters,
  )
}

function selectOne({ organisationId, id: promptId }: Prompt, id: number): Statement {
  return selectListed('r.prompt_id = ? and r.id = ?', [organisationId, promptId, id], 'limit 1')
}

function updateWhere(
  { organisationId, id: promptId }: Prompt,
  id: number,
  condition: string,
  changes: string,
  values: Value[],
): Statement {
  return statement(
    `update regressions set ${changes} where organisation_id = ? and prompt_id = ? and id = ? and ${condition}`,
    [...values, organisationId, promptId, id],
  )
}

/** Adds what tells people, in the same transaction, if the statement changed the regression. */
function thenNotice(update: Statement, notice: () => Statement): Statement {
  return { ...update, sql: `${update.sql} returning id`, andThen: (rows) => rows.map(notice) }
}

function toListedRegression(row: Row): ListedRegression {
  return {
    ...toRegression(row),
    prompt: { publicId: row.public_id as string, name: row.name as string },
    change: toPrefixedEntry(row, 'change') as HistoryEntry,
    repairedEntry: toPrefixedEntry(row, 'fix'),
  }
}

function fromFigures(figures: RegressionFigures): Value[] {
  const { rateBefore, rateAfter, difference, interval, explanation, evidence } = figures
  const { signalsBefore, signalsAfter, liveFrom } = figures
  const inThousandths = evidence === null ? null : Math.round(evidence * 1_000)
  const rates = [rateBefore, rateAfter, difference, ...interval].map(toMillionths)
  return [...rates, explanation, inThousandths, signalsBefore, signalsAfter, liveFrom]
}

export function toRegression(row: Row): Regression {
  return {
    id: row.id as number,
    promptId: row.prompt_id as number,
    entryId: row.entry_id as number,
    commitSha: row.commit_sha as string,
    state: row.withdrawn_at === null ? (row.state as RegressionState) : 'withdrawn',
    openedAt: row.opened_at as number,
    rateBefore: fromMillionths(row.rate_before),
    rateAfter: fromMillionths(row.rate_after),
    difference: fromMillionths(row.difference),
    interval: [fromMillionths(row.low), fromMillionths(row.high)],
    explanation: row.explanation as string,
    evidence: row.evidence === null ? null : (row.evidence as number) / 1_000,
    signalsBefore: row.signals_before as number | null,
    signalsAfter: row.signals_after as number | null,
    liveFrom: row.live_from as number | null,
    repairedAt: row.repaired_at as number | null,
    repairedBy: row.repaired_by as Repair | null,
    repairedEntryId: row.repaired_entry_id as number | null,
    withdrawnAt: row.withdrawn_at as number | null,
    ...toTriaged(row),
  }
}
