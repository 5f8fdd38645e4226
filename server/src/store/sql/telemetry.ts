import type { EvaluationRule } from '../../domain/telemetry/evaluation-rule.ts'
import type {
  Call,
  CallLink,
  JudgeScore,
  Outcome,
  TelemetryKind,
  TelemetryStore,
} from '../../domain/telemetry/telemetry.ts'
import { hourStart, type Instant, monthStart } from '../../domain/time.ts'
import { typesOf } from './archive-tables.ts'
import {
  columnNames,
  countRows,
  type Database,
  inChunks,
  type Row,
  type Statement,
  statement,
  writeRows,
} from './database.ts'
import { changeOrganisation, usedInMonth, usedSum } from './organisations.ts'

// A sender that names an endless number of versions or models must not fill the sums, which stay. What comes later is counted without.
const maxPairsPerHour = 50
const maxOutcomes = 200
const maxWaiting = 10_000
const maxLinksRead = 5_000
const maxHoursRead = 20_000
const maxVersionsRead = 5_000
const removalBatchSize = 500
/** Of an organisation. Beyond it, the oldest go first, however many days they would be kept. */
const maxLinks = 2_000_000

export function sqlTelemetry(database: Database): TelemetryStore {
  /** Runs a statement that depends on the rows that others of the same transaction returned. */
  function afterwards(next: () => Statement[]): Statement {
    return { ...statement('select 1 as done'), andThen: next }
  }

  /** Inserts that also say which rows are new, because another process may insert the same. */
  function insertNew(table: string, rows: Row[], key: string, found: Row[]): Statement[] {
    return database
      .insertRows({ table, rows, onConflict: `on conflict do nothing returning ${key}` })
      .map((insert) => ({
        ...insert,
        andThen: (added) => {
          found.push(...added)
          return []
        },
      }))
  }

  return {
    async rules(organisationId) {
      const [row] = await database.rows('select evaluation_rules from organisations where id = ?', [organisationId])
      return rulesOf(row)
    },

    async setRules(organisationId, rules, at, by) {
      await changeOrganisation(database, organisationId, 'organisation.evaluations_changed', at, by, (row) => {
        const to = JSON.stringify(rules)
        return { set: 'evaluation_rules = ?', values: [to], from: JSON.stringify(rulesOf(row)), to }
      })
    },

    async recordCalls(organisationId, calls) {
      if (calls.length === 0) return []
      const byKey = new Map(calls.map((call) => [`${call.traceId} ${call.spanId}`, call]))
      // In one order, because another process may insert the same.
      const sorted = [...byKey.entries()].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, call]) => call)
      const added: Row[] = []
      const isNew = (): Call[] => added.map((row) => byKey.get(`${row.trace_id} ${row.span_id}`) as Call)
      await database.write([
        ...insertNew(
          'trace_links',
          sorted.map((call) => callRow(organisationId, call)),
          'trace_id, span_id',
          added,
        ),
        afterwards(() => countExposures(database, organisationId, isNew())),
      ])
      return isNew()
    },

    async recordScores(organisationId, scores, limit, now) {
      const byId = new Map(scores.map((score) => [score.eventId, score]))
      const month = monthStart(now)
      const overLimit = new Set<string>()
      const full = new Error('over the limit')
      let left = [...byId.values()]
      for (;;) {
        const added: Row[] = []
        const isNew = () => added.map(({ event_id }) => byId.get(event_id as string) as JudgeScore)
        try {
          if (left.length > 0) {
            await database.write([
              ...insertNew(
                'evaluation_events',
                left
                  .toSorted((a, b) => (a.eventId < b.eventId ? -1 : 1))
                  .map(({ eventId, at }) => ({ organisation_id: organisationId, event_id: eventId, at })),
                'event_id',
                added,
              ),
              afterwards(() => {
                const counted = isNew()
                if (counted.length === 0) return []
                return [
                  ...countUsage(organisationId, month, counted.length, limit, full),
                  ...countScores(database, organisationId, counted),
                ]
              }),
            ])
          }
          return { recorded: new Set(isNew().map(({ eventId }) => eventId)), overLimit }
        } catch (error) {
          if (error !== full) throw error
        }
        // Those that were counted before do not need room.
        const known = await knownEvents(database, organisationId, left)
        const fresh = left.filter(({ eventId }) => !known.has(eventId))
        const room = Math.max(0, (limit as number) - (await usedInMonth(database, organisationId, now)))
        // Otherwise another process might leave room for all of them each time, and take it before they are stored.
        const fitting = fresh.slice(0, Math.min(room, fresh.length - 1))
        for (const { eventId } of fresh.slice(fitting.length)) overLimit.add(eventId)
        left = fitting
      }
    },

    async links(organisationId, traceIds, responseIds) {
      const rows: Row[] = []
      const read = async (column: 'trace_id' | 'response_id', ids: string[]) => {
        for (const chunk of inChunks(ids)) {
          const found = await database.rows(
            `select trace_id, span_id, prompt_id, version, model, response_id, at from trace_links
             where organisation_id = ? and ${column} is not null and ${database.inJsonArray(column, 'text')}
             order by at desc limit ${maxLinksRead}`,
            [organisationId, JSON.stringify(chunk)],
          )
          rows.push(...found)
        }
      }
      await read('trace_id', traceIds)
      await read('response_id', responseIds)
      return rows.sort((a, b) => (a.at as number) - (b.at as number)).map(toLink)
    },

    async addWaiting(organisationId, waiting, now) {
      const known = `(select 1 from waiting_evaluations where organisation_id = ? limit ${maxWaiting}) w`
      if ((await countRows(database, known, [organisationId])) >= maxWaiting) return false
      await database.write(
        database.insertRows({
          table: 'waiting_evaluations',
          rows: waiting
            .toSorted((a, b) => (a.eventId < b.eventId ? -1 : 1))
            .map(({ eventId, traceId, responseId, document }) => ({
              organisation_id: organisationId,
              event_id: eventId,
              trace_id: traceId,
              response_id: responseId,
              document,
              received_at: now,
            })),
          onConflict: 'on conflict do nothing',
        }),
      )
      return true
    },

    async waiting(organisationId, traceIds, responseIds) {
      const rows = await database.rows(
        `select event_id, document from waiting_evaluations
         where organisation_id = ? and ${database.inJsonArray('trace_id', 'text')}
         union
         select event_id, document from waiting_evaluations
         where organisation_id = ? and response_id is not null and ${database.inJsonArray('response_id', 'text')}
         limit ${maxLinksRead}`,
        [organisationId, JSON.stringify(traceIds), organisationId, JSON.stringify(responseIds)],
      )
      return rows.map((row) => row.document as string)
    },

    async removeWaiting(organisationId, eventIds) {
      await writeRows(
        database,
        `delete from waiting_evaluations where organisation_id = ? and ${database.inJsonArray('event_id', 'text')}`,
        [organisationId, JSON.stringify(eventIds)],
      )
    },

    async expireWaiting(organisationId, before) {
      const rows = await writeRows(
        database,
        `delete from waiting_evaluations where organisation_id = ? and event_id in (
           select event_id from waiting_evaluations where organisation_id = ? and received_at < ? limit ${removalBatchSize})
         returning event_id`,
        [organisationId, organisationId, before],
      )
      return rows.length
    },

    async countOutcomes(organisationId, counts, now) {
      if (counts.length === 0) return
      const key = (row: Row) => `${row.kind} ${row.outcome} ${row.detail}`
      const rows = counts
        .map(({ kind, outcome, detail, records }) => {
          return { organisation_id: organisationId, kind, outcome, detail, records, first_at: now, last_at: now }
        })
        .sort((a, b) => (key(a) < key(b) ? -1 : 1))
      await database.write([
        ...database.insertRows({
          table: 'telemetry_outcomes',
          rows,
          onConflict: `on conflict (organisation_id, kind, outcome, detail) do update
            set records = telemetry_outcomes.records + excluded.records, last_at = excluded.last_at`,
        }),
        // Those that did not occur for longest go first.
        statement(
          `delete from telemetry_outcomes where organisation_id = ? and (kind, outcome, detail) in (
             select kind, outcome, detail from telemetry_outcomes where organisation_id = ?
             order by last_at desc, kind, outcome, detail limit ${maxOutcomes} offset ${maxOutcomes})`,
          [organisationId, organisationId],
        ),
      ])
    },

    async outcomes(organisationId) {
      const rows = await database.rows(
        `select ${columnNames(typesOf('telemetry_outcomes'))} from telemetry_outcomes where organisation_id = ? order by last_at desc, records desc, kind, outcome, detail
         limit ${maxOutcomes}`,
        [organisationId],
      )
      return rows.map((row) => ({
        kind: row.kind as TelemetryKind,
        outcome: row.outcome as Outcome,
        detail: row.detail as string,
        records: row.records as number,
        firstAt: row.first_at as number,
        lastAt: row.last_at as number,
      }))
    },

    async exposures({ organisationId, id }, until) {
      const ofPrompt = 'organisation_id = ? and prompt_id = ? and hour < ?'
      const parameters = [organisationId, id, until]
      const [known] = await database.rows(`select 1 as found from exposure_hours where ${ofPrompt} limit 1`, parameters)
      if (known === undefined) return null
      const calls = 'cast(sum(calls) as bigint) as calls'
      const [byVersion, unversioned] = await Promise.all([
        database.rows(
          `select version, ${calls} from exposure_hours where ${ofPrompt} and version <> ''
           group by version order by calls desc, version limit ${maxVersionsRead}`,
          parameters,
        ),
        database.rows(
          `select hour, ${calls} from exposure_hours where ${ofPrompt} and version = ''
           group by hour order by hour desc limit ${maxHoursRead}`,
          parameters,
        ),
      ])
      return {
        byVersion: new Map(byVersion.map((row) => [row.version as string, row.calls as number])),
        unversioned: unversioned.map((row) => ({ hour: row.hour as number, calls: row.calls as number })).reverse(),
      }
    },

    async scores({ organisationId, id }, until) {
      const ofPrompt = 'organisation_id = ? and prompt_id = ? and hour < ?'
      const parameters = [organisationId, id, until]
      const sums = 'cast(sum(positive) as bigint) as positive, cast(sum(negative) as bigint) as negative'
      const [versioned, unversioned] = await Promise.all([
        database.rows(
          `select name, version, 0 as hour, ${sums} from evaluation_hours where ${ofPrompt} and version <> ''
           group by name, version order by sum(positive + negative) desc, name, version limit ${maxVersionsRead}`,
          parameters,
        ),
        database.rows(
          `select name, version, hour, ${sums} from evaluation_hours where ${ofPrompt} and version = ''
           group by name, version, hour order by hour desc, name limit ${maxHoursRead}`,
          parameters,
        ),
      ])
      return [...versioned, ...unversioned].map((row) => ({
        name: row.name as string,
        version: row.version as string,
        hour: row.hour as number,
        positive: row.positive as number,
        negative: row.negative as number,
      }))
    },

    async modelHours({ organisationId, id }, until) {
      const rows = await database.rows(
        `select hour, model, cast(sum(calls) as bigint) as calls from exposure_hours
         where organisation_id = ? and prompt_id = ? and hour < ? and model <> ''
         group by hour, model order by hour desc, model limit ${maxHoursRead}`,
        [organisationId, id, until],
      )
      return rows
        .map((row) => ({ hour: row.hour as number, model: row.model as string, calls: row.calls as number }))
        .reverse()
    },

    async removeTelemetry(organisationId, before) {
      const cutoff = Math.max(before, await startOfLinks(database, organisationId, before))
      const removed = await database.write([
        removeOld('trace_links', 'trace_id, span_id', 'at', organisationId, cutoff),
        removeOld('evaluation_events', 'event_id', 'at', organisationId, before),
      ])
      if (removed.some((rows) => rows.length === removalBatchSize)) return true
      // Last, because they say which organisations have any of it.
      await database.write([
        removeOld('telemetry_outcomes', 'kind, outcome, detail', 'last_at', organisationId, before),
      ])
      return false
    },

    async senders() {
      const rows = await database.rows('select distinct organisation_id from telemetry_outcomes')
      return rows.map(({ organisation_id }) => organisation_id as number)
    },
  }
}

function removeOld(table: string, key: string, time: string, organisationId: number, before: Instant): Statement {
  const expired = `organisation_id = ? and ${time} < ?`
  return statement(
    `delete from ${table} where organisation_id = ? and (${key}) in (
       select ${key} from ${table} where ${expired} limit ${removalBatchSize}) returning organisation_id`,
    [organisationId, organisationId, before],
  )
}

/** From when on the organisation has no more links than it may have. Each is a call that was counted. */
async function startOfLinks(database: Database, organisationId: number, before: Instant): Promise<Instant> {
  const rows = await database.rows(
    `select hour, cast(sum(calls) as bigint) as calls from exposure_hours where organisation_id = ? and hour >= ?
     group by hour order by hour desc`,
    [organisationId, hourStart(before)],
  )
  let links = 0
  for (const { hour, calls } of rows) {
    links += calls as number
    // Those of the newest hour stay: thumbs follow within minutes.
    if (links > maxLinks) return Math.min((hour as number) + 3_600_000, rows[0]?.hour as number)
  }
  return before
}

function callRow(organisationId: number, { traceId, spanId, promptId, version, model, responseId, at }: Call): Row {
  return {
    organisation_id: organisationId,
    trace_id: traceId,
    span_id: spanId,
    prompt_id: promptId,
    version,
    model,
    response_id: responseId,
    at,
  }
}

function toLink(row: Row): CallLink {
  return {
    traceId: row.trace_id as string,
    spanId: row.span_id as string,
    promptId: row.prompt_id as number,
    version: row.version as string | null,
    model: row.model as string | null,
    responseId: row.response_id as string | null,
  }
}

/** Adds calls to the sums by hour, in the order of their key. */
function countExposures(database: Database, organisationId: number, calls: Call[]): Statement[] {
  if (calls.length === 0) return []
  const hours = Map.groupBy(calls, ({ promptId, at }) => JSON.stringify([promptId, hourStart(at)]))
  const found = new Map<string, Set<string>>()
  const pairOf = (version: unknown, model: unknown) => JSON.stringify([version, model])
  const read = [...hours.keys()].map((key): Statement => {
    const [promptId, hour] = JSON.parse(key) as [number, number]
    return {
      ...statement(
        `select version, model from exposure_hours where organisation_id = ? and prompt_id = ? and hour = ? limit ${maxPairsPerHour}`,
        [organisationId, promptId, hour],
      ),
      andThen: (rows) => {
        found.set(key, new Set(rows.map(({ version, model }) => pairOf(version, model))))
        return []
      },
    }
  })
  function add(): Statement[] {
    const sums = new Map<string, Row>()
    for (const [key, ofHour] of hours) {
      const known = found.get(key) as Set<string>
      for (const { promptId, at, version, model } of ofHour) {
        let pair = [version ?? '', model ?? '']
        if (!known.has(pairOf(pair[0], pair[1]))) {
          if (known.size >= maxPairsPerHour) pair = ['', '']
          else known.add(pairOf(pair[0], pair[1]))
        }
        const hour = hourStart(at)
        const sumKey = JSON.stringify([promptId, hour, ...pair])
        const sum = sums.get(sumKey)
        if (sum !== undefined) sum.calls = (sum.calls as number) + 1
        else {
          const [ofVersion, ofModel] = pair as [string, string]
          sums.set(sumKey, {
            organisation_id: organisationId,
            prompt_id: promptId,
            hour,
            version: ofVersion,
            model: ofModel,
            calls: 1,
          })
        }
      }
    }
    return database.insertRows({
      table: 'exposure_hours',
      rows: [...sums.entries()].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, row]) => row),
      onConflict: `on conflict (organisation_id, prompt_id, hour, version, model) do update
        set calls = exposure_hours.calls + excluded.calls`,
    })
  }
  return [...read, { ...statement('select 1 as done'), andThen: add }]
}

/**
 * Counts towards the monthly limit, and rejects with `full` if that exceeds it. Holds the row that every signal of an organisation with a
 * limit is counted in, so the limit is exact.
 */
function countUsage(
  organisationId: number,
  month: Instant,
  count: number,
  limit: number | null,
  full: Error,
): Statement[] {
  const add = statement(
    `insert into signal_usage as counted (organisation_id, month, used, month_limit) values (?, ?, ?, ?)
     on conflict (organisation_id, month) do update
       set used = counted.used + excluded.used, month_limit = excluded.month_limit`,
    [organisationId, month, count, limit],
  )
  if (limit === null) return [add]
  const check = statement(
    `select 1 as fits from (select ${usedSum} from month_usage where organisation_id = ? and month = ?) as total where used <= ?`,
    [organisationId, month, limit],
  )
  return [add, { ...check, orThrow: () => full }]
}

function countScores(database: Database, organisationId: number, scores: JudgeScore[]): Statement[] {
  const sums = new Map<string, Row>()
  for (const { promptId, at, name, version, value } of scores) {
    const hour = hourStart(at)
    const key = JSON.stringify([promptId, hour, name, version])
    const sum = sums.get(key) ?? {
      organisation_id: organisationId,
      prompt_id: promptId,
      hour,
      name,
      version: version ?? '',
      positive: 0,
      negative: 0,
    }
    sum[value] = (sum[value] as number) + 1
    sums.set(key, sum)
  }
  return database.insertRows({
    table: 'evaluation_hours',
    rows: [...sums.entries()].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, row]) => row),
    onConflict: `on conflict (organisation_id, prompt_id, hour, name, version) do update
      set positive = evaluation_hours.positive + excluded.positive, negative = evaluation_hours.negative + excluded.negative`,
  })
}

async function knownEvents(database: Database, organisationId: number, scores: JudgeScore[]): Promise<Set<string>> {
  const rows = await database.rows(
    `select event_id from evaluation_events where organisation_id = ? and ${database.inJsonArray('event_id', 'text')}`,
    [organisationId, JSON.stringify(scores.map(({ eventId }) => eventId))],
  )
  return new Set(rows.map(({ event_id }) => event_id as string))
}

function rulesOf(row: Row | undefined): EvaluationRule[] {
  return row?.evaluation_rules == null ? [] : JSON.parse(row.evaluation_rules as string)
}
