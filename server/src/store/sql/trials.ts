import type { Actor, AuditAction, AuditDetails } from '../../domain/access/audit.ts'
import { textsFull } from '../../domain/delivery/live-text.ts'
import { pageOffset } from '../../domain/page.ts'
import type { Instant } from '../../domain/time.ts'
import {
  maxActiveTrials,
  type NewTrial,
  type Ramp,
  type ServedShare,
  servedShare,
  type Trial,
  type TrialEnding,
  TrialRunsError,
  type TrialState,
  type TrialStore,
  tooManyTrials,
  trialEnded,
} from '../../domain/trials/trial.ts'
import { typesOf } from './archive-tables.ts'
import { auditEntry } from './audit-chain.ts'
import {
  columnNames,
  countRows,
  type Database,
  type Row,
  type Statement,
  statement,
  type Value,
  writeRows,
} from './database.ts'
import { blobsOf, insertTexts, removeUnusedTexts, requireTextRoom } from './delivered-texts.ts'
import { fromMillionths, toMillionths } from './millionths.ts'
import { endNoticesOf, openNoticeOf } from './notice-changes.ts'
import { lockOrganisation, requireRoom } from './organisations.ts'
import { sqlTrialLabels } from './trial-labels.ts'

// A process counts for itself, so this is how many processes count.
const maxSources = 100_000

const trialColumns = columnNames(typesOf('trials'))

export function sqlTrials(database: Database): TrialStore {
  async function withPrompts(rows: Row[]): Promise<Trial[]> {
    if (rows.length === 0) return []
    const prompts = await database.rows(
      `select t.organisation_id, t.trial_id, t.blob, t.controls, p.id, p.public_id, p.name from trial_prompts t
       join prompts p on p.organisation_id = t.organisation_id and p.id = t.prompt_id
       where ${database.inJsonArray('t.organisation_id', 'bigint')} and ${database.inJsonArray('t.trial_id', 'text')}
       order by p.name, p.id`,
      [
        JSON.stringify([...new Set(rows.map((row) => row.organisation_id))]),
        JSON.stringify(rows.map((row) => row.trial_id)),
      ],
    )
    const byTrial = Map.groupBy(prompts, (row) => `${row.organisation_id} ${row.trial_id}`)
    return rows.map((row) => toTrial(row, byTrial.get(`${row.organisation_id} ${row.trial_id}`) ?? []))
  }

  async function find(organisationId: number, id: string): Promise<Trial | null> {
    const rows = await database.rows(`select ${trialColumns} from trials where organisation_id = ? and trial_id = ?`, [
      organisationId,
      id,
    ])
    return (await withPrompts(rows))[0] ?? null
  }

  /** The trial that runs on one of these prompts. */
  async function running(organisationId: number, promptIds: number[]): Promise<TrialRunsError | null> {
    const [row] = await database.rows(
      `select t.trial_id, p.name from trial_prompts t join prompts p on p.organisation_id = t.organisation_id and p.id = t.prompt_id
       where t.organisation_id = ? and t.active = 1 and ${database.inJsonArray('t.prompt_id', 'bigint')} limit 1`,
      [organisationId, JSON.stringify(promptIds)],
    )
    return row === undefined ? null : new TrialRunsError(row.trial_id as string, row.name as string)
  }

  return {
    async start(trial, by, maxBytes) {
      const { organisationId, id, startedAt } = trial
      const promptIds = trial.prompts.map(({ prompt }) => prompt.id)
      const isFree = statement(
        `select 1 as free where not exists (
           select 1 from trial_prompts where organisation_id = ? and active = 1 and ${database.inJsonArray('prompt_id', 'bigint')})`,
        [organisationId, JSON.stringify(promptIds)],
      )
      const active = `trials where organisation_id = ? and state in ('running', 'paused')`
      const taken = new Error('taken')
      try {
        await database.writeAndInvalidate([
          // Concurrent requests must not start two trials on one prompt.
          lockOrganisation(organisationId),
          { ...isFree, orThrow: () => taken },
          requireRoom(maxActiveTrials, active, [organisationId], tooManyTrials),
          insertTrial(trial, by),
          ...insertTexts(database, organisationId, new Map(trial.prompts.map(({ blob, text }) => [blob, text]))),
          ...insertPrompts(database, trial),
          requireTextRoom(organisationId, maxBytes, () => textsFull(maxBytes)),
          openNoticeOf(organisationId, 'trial', `${id}/started`, startedAt),
          audit(trial, 'trial.started', startedAt, by, {
            commit: trial.commitSha,
            share: trial.share,
            ...(trial.prNumber !== null && { pull: trial.prNumber }),
          }),
        ])
      } catch (error) {
        if (error !== taken) throw error
        throw (await running(organisationId, promptIds)) ?? trialEnded(id)
      }
      return (await find(organisationId, id)) as Trial
    },

    find,

    async page(organisationId, promptId, visible, state, request) {
      const conditions = ['organisation_id = ?']
      const parameters: Value[] = [organisationId]
      if (state !== null) {
        conditions.push('state = ?')
        parameters.push(state)
      }
      const prompts = `select 1 from trial_prompts p where p.organisation_id = trials.organisation_id and p.trial_id = trials.trial_id`
      if (promptId !== null) {
        conditions.push(`exists (${prompts} and p.prompt_id = ?)`)
        parameters.push(promptId)
      }
      if (visible !== null) {
        conditions.push(`not exists (${prompts} and not ${database.inJsonArray('p.prompt_id', 'bigint')})`)
        parameters.push(JSON.stringify(visible))
      }
      const condition = `where ${conditions.join(' and ')}`
      const [totalCount, rows] = await Promise.all([
        countRows(database, `trials ${condition}`, parameters),
        database.rows(
          `select ${trialColumns} from trials ${condition} order by started_at desc, trial_id desc limit ? offset ?`,
          [...parameters, request.limit, pageOffset(request)],
        ),
      ])
      return { trials: await withPrompts(rows), totalCount }
    },

    async isTried({ organisationId, id }) {
      const sql = 'select 1 from trial_prompts where organisation_id = ? and prompt_id = ? limit 1'
      return (await database.rows(sql, [organisationId, id])).length > 0
    },

    async ofChanges({ organisationId, id: promptId }, changes) {
      const rows = await database.rows(
        `select ${trialColumns} from trials where organisation_id = ?
           and trial_id in (select p.trial_id from trial_prompts p where p.organisation_id = ? and p.prompt_id = ?)
           and (${database.inJsonArray('commit_sha', 'text')} or ${database.inJsonArray('pr_number', 'bigint')})
         order by started_at desc, trial_id desc limit ${maxOfChanges}`,
        [
          ...[organisationId, organisationId, promptId],
          JSON.stringify(changes.map(({ commitSha }) => commitSha)),
          JSON.stringify(changes.flatMap(({ prNumber }) => prNumber ?? [])),
        ],
      )
      return withPrompts(rows)
    },

    async active(organisationId) {
      const [condition, parameters] = organisationId === null ? ['', []] : ['and organisation_id = ?', [organisationId]]
      const rows = await database.rows(
        `select ${trialColumns} from trials where state in ('running', 'paused') ${condition} order by organisation_id, trial_id`,
        parameters,
      )
      return withPrompts(rows)
    },

    async change(trial, change, events, at, by) {
      const { organisationId, id } = trial
      const update = (row: Row): Statement[] => {
        const before = toTrial(row, [])
        const isByPeople = by !== undefined && change.share !== undefined
        const isStale = by === undefined && before.share !== trial.share
        const next = {
          ...before,
          ...change,
          ...(isByPeople && { ramp: null }),
          ...(isStale && { share: before.share }),
        }
        const { ending = null } = change
        const state = ending === null ? next.state : 'ended'
        const share = servedShare({ ...next, state })
        const shares = share === servedShare(before) ? before.shares : [...before.shares, { from: at, share }]
        const details: AuditDetails = ending === null ? { state, share: next.share } : { reason: ending }
        return [
          statement(
            `update trials set state = ?, share = ?, shares = ?, ramp = ?, verdict = ?, mismatch = ?, findings = ?, ended_at = ?, reason = ?
             where organisation_id = ? and trial_id = ?`,
            [
              state,
              toMillionths(next.share),
              encodeShares(shares),
              encodeRamp(next.ramp),
              next.verdict,
              Number(next.mismatch),
              next.findings === null ? null : JSON.stringify(next.findings),
              ending === null ? null : at,
              ending,
              organisationId,
              id,
            ],
          ),
          ...(ending === null
            ? []
            : [
                // What was served is not needed any more, and neither is who voted.
                {
                  ...statement(
                    'update trial_prompts set active = null where organisation_id = ? and trial_id = ? returning blob',
                    [organisationId, id],
                  ),
                  andThen: (ended: Row[]) => removeUnusedTexts(database, organisationId, blobsOf(ended)),
                },
                ...forgetProgress(organisationId, id),
              ]),
          ...events.map((event) => openNoticeOf(organisationId, 'trial', `${id}/${event}`, at)),
          ...(ending === null ? [] : [endNoticesOf(organisationId, 'trial', id, at)]),
          ...(by === undefined
            ? []
            : [audit(trial, ending === null ? 'trial.changed' : 'trial.ended', at, by, details)]),
        ]
      }
      // New figures alone change nothing that is cached.
      const isServed = change.state !== undefined || change.share !== undefined || change.ending !== undefined
      const write = isServed ? database.writeAndInvalidate : database.write
      const [rows = []] = await write([
        {
          // Locks the row, so that concurrent changes come one after the other.
          ...statement(
            `update trials set state = state where organisation_id = ? and trial_id = ? and state <> 'ended' returning ${trialColumns}`,
            [organisationId, id],
          ),
          andThen: (rows) => rows.flatMap(update),
        },
      ])
      return rows.length === 0 ? null : find(organisationId, id)
    },

    async served(organisationId) {
      const rows = await database.rows(
        `select t.trial_id, t.share, t.commit_sha, p.prompt_id, p.blob, d.size from trials t
         join trial_prompts p on p.organisation_id = t.organisation_id and p.trial_id = t.trial_id
         join delivered_texts d on d.organisation_id = p.organisation_id and d.blob = p.blob
         where t.organisation_id = ? and t.state = 'running' and t.share > 0 and p.active = 1`,
        [organisationId],
      )
      return rows.map((row) => ({
        id: row.trial_id as string,
        share: fromMillionths(row.share),
        commitSha: row.commit_sha as string,
        promptId: row.prompt_id as number,
        blob: row.blob as string,
        size: row.size as number,
      }))
    },

    async texts(organisationId, trialIds, promptIds) {
      const rows = await database.rows(
        `select p.trial_id, p.prompt_id, d.text from trial_prompts p
         join delivered_texts d on d.organisation_id = p.organisation_id and d.blob = p.blob
         where p.organisation_id = ? and p.active = 1 and ${database.inJsonArray('p.trial_id', 'text')}
           and ${database.inJsonArray('p.prompt_id', 'bigint')}`,
        [organisationId, JSON.stringify(trialIds), JSON.stringify(promptIds)],
      )
      return rows.map((row) => ({
        trialId: row.trial_id as string,
        promptId: row.prompt_id as number,
        text: row.text as string,
      }))
    },

    async recordExposures(organisationId, keyId, source, exposures) {
      // A fixed order prevents deadlocks between requests that update the same rows.
      const ordered = exposures.toSorted((a, b) => (a.trial < b.trial ? -1 : a.trial > b.trial ? 1 : a.share - b.share))
      await database.write(
        ordered.map(({ trial, share, control, candidate }) =>
          statement(
            `insert into trial_exposures (organisation_id, trial_id, source, share, control, candidate, key_id)
             select organisation_id, trial_id, cast(? as text), cast(? as bigint), cast(? as bigint), cast(? as bigint),
               cast(? as bigint) from trials
             where organisation_id = ? and trial_id = ? and (
               ? > (select count(*) from trial_exposures where organisation_id = ? and trial_id = ?)
               or exists (select 1 from trial_exposures where organisation_id = ? and trial_id = ? and source = ? and share = ?))
             on conflict (organisation_id, trial_id, source, share) do update set
               control = case when excluded.control > trial_exposures.control then excluded.control else trial_exposures.control end,
               candidate = case when excluded.candidate > trial_exposures.candidate then excluded.candidate
                 else trial_exposures.candidate end
               where trial_exposures.key_id = excluded.key_id`,
            [
              source,
              toMillionths(share),
              control,
              candidate,
              keyId,
              organisationId,
              trial,
              maxSources,
              organisationId,
              trial,
              organisationId,
              trial,
              source,
              toMillionths(share),
            ],
          ),
        ),
      )
    },

    async exposures({ organisationId, id }) {
      const rows = await database.rows(
        `select key_id, share, cast(sum(control) as bigint) as control, cast(sum(candidate) as bigint) as candidate,
           count(*) as sources
         from trial_exposures where organisation_id = ? and trial_id = ? group by key_id, share order by key_id, share`,
        [organisationId, id],
      )
      return rows.map((row) => ({
        keyId: row.key_id as number | null,
        share: fromMillionths(row.share),
        control: row.control as number,
        candidate: row.candidate as number,
        sources: row.sources as number,
      }))
    },

    async votes(trial, after, limit, { withMetadata } = { withMetadata: false }) {
      const columns = `voter, value, version, created_at, id${withMetadata ? ', metadata' : ''}`
      const condition = 'created_at >= ? and (created_at, id) > (?, ?) and voter is not null'
      const rows = await ofVersions(trial, columns, condition, [after.at, after.at, after.id], 'asc', limit)
      return rows.map((row) => ({
        at: row.created_at as number,
        id: row.id as number,
        voter: row.voter as string,
        isPositive: row.value === 'positive',
        version: row.version as string,
        metadata: (row.metadata ?? null) as string | null,
      }))
    },

    async votesBefore(trial) {
      const before = { ...trial, commitSha: null }
      const rows = await ofVersions(before, 'value, created_at, id', 'created_at < ?', [trial.startedAt], 'desc', 100)
      const positive = rows.filter(({ value }) => value === 'positive').length
      return { positive, negative: rows.length - positive }
    },

    async pinControls({ organisationId, id, prompts }, promptIds) {
      await database.write(
        prompts
          .filter(({ prompt }) => promptIds.includes(prompt.id))
          .map(({ prompt, controls }) =>
            statement(
              'update trial_prompts set controls = ? where organisation_id = ? and trial_id = ? and prompt_id = ?',
              [JSON.stringify(controls.slice(-maxControls)), organisationId, id, prompt.id],
            ),
          ),
      )
    },

    async progress({ organisationId, id }) {
      const [row] = await database.rows(
        'select revision, progress from trial_progress where organisation_id = ? and trial_id = ?',
        [organisationId, id],
      )
      return row === undefined
        ? null
        : { revision: row.revision as number, progress: JSON.parse(row.progress as string) }
    },

    async startProgress({ organisationId, id }, progress) {
      await database.write([
        ...forgetProgress(organisationId, id),
        statement(
          `insert into trial_progress (organisation_id, trial_id, revision, progress)
           select organisation_id, trial_id, 0, cast(? as text) from trials where organisation_id = ? and trial_id = ? and state <> 'ended'
           on conflict (organisation_id, trial_id) do nothing`,
          [JSON.stringify(progress), organisationId, id],
        ),
      ])
    },

    async saveProgress({ organisationId, id }, { revision, progress }, voters) {
      const stale = new Error('stale')
      try {
        await database.write([
          {
            ...statement(
              `update trial_progress set revision = revision + 1, progress = ?
               where organisation_id = ? and trial_id = ? and revision = ? returning revision`,
              [JSON.stringify(progress), organisationId, id, revision],
            ),
            orThrow: () => stale,
          },
          ...database.insertRows({
            table: 'trial_voters',
            rows: voters.map((voter) => ({ organisation_id: organisationId, trial_id: id, voter })),
            onConflict: '',
          }),
        ])
        return true
      } catch (error) {
        if (error !== stale) throw error
        return false
      }
    },

    async counted({ organisationId, id }, voters) {
      const rows = await database.rows(
        `select voter from trial_voters where organisation_id = ? and trial_id = ? and ${database.inJsonArray('voter', 'text')}`,
        [organisationId, id, JSON.stringify(voters)],
      )
      return new Set(rows.map(({ voter }) => voter as string))
    },

    async claimJudging(owner, now, until) {
      const rows = await writeRows(
        database,
        `update leases set owner = ?, lease_until = ? where name = 'trials' and (owner = ? or lease_until <= ?) returning name`,
        [owner, until, owner, now],
      )
      return rows.length > 0
    },

    ...sqlTrialLabels(database),

    async releaseJudging(owner) {
      await writeRows(database, `update leases set lease_until = 0 where name = 'trials' and owner = ?`, [owner])
    },
  }

  /** Rows of signals in the order of time, of the prompts of a trial with its versions. Each version of a prompt is read by its index. */
  async function ofVersions(
    { organisationId, prompts, commitSha }: Pick<Trial, 'organisationId' | 'prompts'> & { commitSha: string | null },
    columns: string,
    condition: string,
    parameters: Value[],
    order: 'asc' | 'desc',
    limit: number,
  ): Promise<Row[]> {
    const pairs = prompts.flatMap(({ prompt, controls }) =>
      [...controls, ...(commitSha === null ? [] : [commitSha])].map((version) => [prompt.id, version] as const),
    )
    const inOrder = `order by created_at ${order}, id ${order} limit ?`
    const part = `select * from (select ${columns} from signals
      where organisation_id = ? and prompt_id = ? and version = ? and ${condition} ${inOrder}) as of_version`
    const found: Row[] = []
    for (let i = 0; i < pairs.length; i += maxUnion) {
      const some = pairs.slice(i, i + maxUnion)
      const rows = await database.rowsPlanned(
        `select * from (${some.map(() => part).join(' union all ')}) as found ${inOrder}`,
        [...some.flatMap((pair) => [organisationId, ...pair, ...parameters, limit]), limit],
      )
      found.push(...rows)
    }
    if (pairs.length <= maxUnion) return found
    const sign = order === 'asc' ? 1 : -1
    const place = (row: Row) => [row.created_at as number, row.id as number] as const
    return found.sort((a, b) => sign * (place(a)[0] - place(b)[0] || place(a)[1] - place(b)[1])).slice(0, limit)
  }
}

// A page of changes has fewer.
const maxOfChanges = 500
// SQLite joins at most 500.
const maxUnion = 50
// A prompt changes a few times during a trial.
const maxControls = 50

/** Part of a transaction after which votes are counted from the beginning, or no longer. */
function forgetProgress(organisationId: number, id: string): Statement[] {
  return ['trial_progress', 'trial_voters'].map((table) =>
    statement(`delete from ${table} where organisation_id = ? and trial_id = ?`, [organisationId, id]),
  )
}

/** Part of a transaction that deletes signals: the trials of their prompts count again without them. */
export function recountTrials(database: Database, organisationId: number, promptIds: readonly number[]): Statement {
  return statement(
    `delete from trial_progress where organisation_id = ? and trial_id in (
       select trial_id from trial_prompts where organisation_id = ? and ${database.inJsonArray('prompt_id', 'bigint')})`,
    [organisationId, organisationId, JSON.stringify(promptIds)],
  )
}

function insertTrial(trial: NewTrial, by: Actor): Statement {
  const { organisationId, id, repositoryId, prNumber, commitSha, share, ramp, startedBy, startedAt } = trial
  const shares = encodeShares([{ from: startedAt, share }])
  return statement(
    `insert into trials (organisation_id, trial_id, repository_id, pr_number, commit_sha, state, share, shares, ramp, mismatch,
       key_id, started_by, started_at) values (?, ?, ?, ?, ?, 'running', ?, ?, ?, 0, ?, ?, ?)`,
    [
      organisationId,
      id,
      repositoryId,
      prNumber,
      commitSha,
      toMillionths(share),
      shares,
      encodeRamp(ramp),
      by?.keyId ?? null,
      startedBy,
      startedAt,
    ],
  )
}

function insertPrompts(database: Database, { organisationId, id, prompts }: NewTrial): Statement[] {
  return database.insertRows({
    table: 'trial_prompts',
    rows: prompts.map(({ prompt, blob, controls }) => ({
      organisation_id: organisationId,
      trial_id: id,
      prompt_id: prompt.id,
      blob,
      controls: JSON.stringify(controls),
      active: 1,
    })),
    onConflict: '',
  })
}

function audit(
  { organisationId, id, prompts }: Pick<Trial, 'organisationId' | 'id' | 'prompts'>,
  action: AuditAction,
  at: Instant,
  by: Actor,
  details: AuditDetails,
): Statement {
  const subject = { id, name: prompts[0]?.prompt.name ?? id }
  return auditEntry({ organisationId, by, at, action, subject, details })
}

function encodeRamp(ramp: Ramp | null): string | null {
  return ramp && JSON.stringify({ ...ramp, shares: ramp.shares.map(toMillionths) })
}

function encodeShares(shares: ServedShare[]): string {
  return JSON.stringify(shares.map(({ from, share }) => [from, toMillionths(share)]))
}

function toTrial(row: Row, prompts: Row[]): Trial {
  const ramp = row.ramp === null ? null : (JSON.parse(row.ramp as string) as Ramp)
  const shares = JSON.parse(row.shares as string) as [Instant, number][]
  return {
    organisationId: row.organisation_id as number,
    id: row.trial_id as string,
    repositoryId: row.repository_id as number,
    prNumber: row.pr_number as number | null,
    commitSha: row.commit_sha as string,
    state: row.state as TrialState,
    share: fromMillionths(row.share),
    shares: shares.map(([from, share]) => ({ from, share: fromMillionths(share) })),
    ramp: ramp && { ...ramp, shares: ramp.shares.map(fromMillionths) },
    verdict: row.verdict as Trial['verdict'],
    mismatch: row.mismatch === 1,
    findings: row.findings === null ? null : JSON.parse(row.findings as string),
    startedBy: row.started_by as string,
    startedAt: row.started_at as number,
    endedAt: row.ended_at as number | null,
    ending: row.reason as TrialEnding | null,
    prompts: prompts.map(({ id, public_id, name, blob, controls }) => ({
      prompt: { id: id as number, publicId: public_id as string, name: name as string },
      blob: blob as string,
      controls: JSON.parse(controls as string),
    })),
  }
}
