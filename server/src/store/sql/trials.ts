import type { Actor, AuditAction, AuditDetails } from '../../domain/access/audit.ts'
import { pageOffset } from '../../domain/page.ts'
import type { Instant } from '../../domain/time.ts'
import {
  type NewTrial,
  type Ramp,
  type ServedShare,
  servedShare,
  type Trial,
  type TrialEnding,
  TrialRunsError,
  type TrialState,
  type TrialStore,
  trialEnded,
} from '../../domain/trials/trial.ts'
import { auditEntry } from './audit-chain.ts'
import { type Database, type Row, requireRow, type Statement, statement, type Value } from './database.ts'
import { fromMillionths, toMillionths } from './millionths.ts'
import { openNoticeOf } from './notice-changes.ts'
import { lockOrganisation } from './organisations.ts'

// A process counts for itself, so this is how many processes count.
const maxSources = 100_000

export function sqlTrials(database: Database): TrialStore {
  async function withPrompts(rows: Row[]): Promise<Trial[]> {
    if (rows.length === 0) return []
    const prompts = await database.rows(
      `select t.organisation_id, t.trial_id, t.blob, p.id, p.public_id, p.name from trial_prompts t
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
    const rows = await database.rows('select * from trials where organisation_id = ? and trial_id = ?', [
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
    async start(trial, by) {
      const { organisationId, id, startedAt } = trial
      const promptIds = trial.prompts.map(({ prompt }) => prompt.id)
      const isFree = statement(
        `select 1 as free where not exists (
           select 1 from trial_prompts where organisation_id = ? and active = 1 and ${database.inJsonArray('prompt_id', 'bigint')})`,
        [organisationId, JSON.stringify(promptIds)],
      )
      const taken = new Error('taken')
      try {
        await database.writeAndInvalidate([
          // Concurrent requests must not start two trials on one prompt.
          lockOrganisation(organisationId),
          { ...isFree, orThrow: () => taken },
          insertTrial(trial, by),
          ...insertPrompts(database, trial),
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
      const [counts, rows] = await Promise.all([
        database.rows(`select count(*) as count from trials ${condition}`, parameters),
        database.rows(`select * from trials ${condition} order by started_at desc, trial_id desc limit ? offset ?`, [
          ...parameters,
          request.limit,
          pageOffset(request),
        ]),
      ])
      return { trials: await withPrompts(rows), totalCount: requireRow(counts).count as number }
    },

    async ofChange({ organisationId, id: promptId }, { commitSha, prNumber, repositoryId }) {
      const rows = await database.rows(
        `select * from trials where organisation_id = ?
           and trial_id in (select p.trial_id from trial_prompts p where p.organisation_id = ? and p.prompt_id = ?)
           and (commit_sha = ? or (repository_id = ? and pr_number = ?))
         order by started_at desc, trial_id desc limit 1`,
        [organisationId, organisationId, promptId, commitSha, repositoryId, prNumber],
      )
      return (await withPrompts(rows))[0] ?? null
    },

    async active(organisationId) {
      const [condition, parameters] = organisationId === null ? ['', []] : ['and organisation_id = ?', [organisationId]]
      const rows = await database.rows(
        `select * from trials where state in ('running', 'paused') ${condition} order by organisation_id, trial_id`,
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
                statement('update trial_prompts set active = null where organisation_id = ? and trial_id = ?', [
                  organisationId,
                  id,
                ]),
              ]),
          ...events.map((event) => openNoticeOf(organisationId, 'trial', `${id}/${event}`, at)),
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
            `update trials set state = state where organisation_id = ? and trial_id = ? and state <> 'ended' returning *`,
            [organisationId, id],
          ),
          andThen: (rows) => rows.flatMap(update),
        },
      ])
      return rows.length === 0 ? null : find(organisationId, id)
    },

    async served(organisationId) {
      const rows = await database.rows(
        `select t.trial_id, t.share, t.commit_sha, p.prompt_id, p.blob from trials t
         join trial_prompts p on p.organisation_id = t.organisation_id and p.trial_id = t.trial_id
         where t.organisation_id = ? and t.state = 'running' and t.share > 0 and p.active = 1`,
        [organisationId],
      )
      return rows.map((row) => ({
        id: row.trial_id as string,
        share: fromMillionths(row.share),
        commitSha: row.commit_sha as string,
        promptId: row.prompt_id as number,
        blob: row.blob as string,
      }))
    },

    async texts(organisationId, trialIds) {
      const rows = await database.rows(
        `select trial_id, prompt_id, text from trial_prompts
         where organisation_id = ? and ${database.inJsonArray('trial_id', 'text')}`,
        [organisationId, JSON.stringify(trialIds)],
      )
      return rows.map((row) => ({
        trialId: row.trial_id as string,
        promptId: row.prompt_id as number,
        text: row.text as string,
      }))
    },

    async recordExposures(organisationId, source, exposures) {
      // A fixed order prevents deadlocks between requests that update the same rows.
      const ordered = exposures.toSorted((a, b) => (a.trial < b.trial ? -1 : a.trial > b.trial ? 1 : a.share - b.share))
      await database.write(
        ordered.map(({ trial, share, control, candidate }) =>
          statement(
            `insert into trial_exposures (organisation_id, trial_id, source, share, control, candidate)
             select organisation_id, trial_id, cast(? as text), cast(? as bigint), cast(? as bigint), cast(? as bigint) from trials
             where organisation_id = ? and trial_id = ? and (
               ? > (select count(*) from trial_exposures where organisation_id = ? and trial_id = ?)
               or exists (select 1 from trial_exposures where organisation_id = ? and trial_id = ? and source = ? and share = ?))
             on conflict (organisation_id, trial_id, source, share) do update set
               control = case when excluded.control > trial_exposures.control then excluded.control else trial_exposures.control end,
               candidate = case when excluded.candidate > trial_exposures.candidate then excluded.candidate
                 else trial_exposures.candidate end`,
            [
              source,
              toMillionths(share),
              control,
              candidate,
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
        `select share, cast(sum(control) as bigint) as control, cast(sum(candidate) as bigint) as candidate, count(*) as sources
         from trial_exposures where organisation_id = ? and trial_id = ? group by share order by share`,
        [organisationId, id],
      )
      return rows.map((row) => ({
        share: fromMillionths(row.share),
        control: row.control as number,
        candidate: row.candidate as number,
        sources: row.sources as number,
      }))
    },

    async votes(organisationId, promptIds, versions, since, limit) {
      const rows = await database.rows(
        `select voter, value, version, created_at from signals where organisation_id = ?
           and ${database.inJsonArray('prompt_id', 'bigint')} and ${database.inJsonArray('version', 'text')}
           and created_at >= ? and version is not null and voter is not null
         order by created_at, id limit ?`,
        [organisationId, JSON.stringify(promptIds), JSON.stringify(versions), since, limit],
      )
      return rows.map((row) => ({
        voter: row.voter as string,
        isPositive: row.value === 'positive',
        version: row.version as string,
        createdAt: row.created_at as number,
      }))
    },
  }
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
    columns: [
      { name: 'organisation_id', type: 'bigint' },
      { name: 'trial_id', type: 'text' },
      { name: 'prompt_id', type: 'bigint' },
      { name: 'blob', type: 'text' },
      { name: 'text', type: 'text' },
      { name: 'active', type: 'bigint' },
    ],
    rows: prompts.map(({ prompt, blob, text }) => ({
      organisation_id: organisationId,
      trial_id: id,
      prompt_id: prompt.id,
      blob,
      text,
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
    prompts: prompts.map(({ id, public_id, name, blob }) => ({
      prompt: { id: id as number, publicId: public_id as string, name: name as string },
      blob: blob as string,
    })),
  }
}
