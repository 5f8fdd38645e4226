import type { Actor } from '../../domain/access/audit.ts'
import type { Prompt } from '../../domain/prompt.ts'
import { type Instant, isoTime } from '../../domain/time.ts'
import type { Triage, TriageAction, Triaged, TriageStep } from '../../domain/triage.ts'
import { auditEntry } from './audit-chain.ts'
import { type Database, type Row, type Statement, statement, type Value } from './database.ts'

/** What people take care of, and the tables of what they decided and did. */
const tables = {
  regression: { decisions: 'regressions', id: 'id', steps: 'regression_steps', step: 'regression_id' },
  shift: { decisions: 'shift_triage', id: 'shift_id', steps: 'shift_steps', step: 'shift_id' },
} as const

type TriagedKind = keyof typeof tables

interface TriageSubject {
  kind: TriagedKind
  id: number | string
  prompt: Prompt
}

/** Those of both tables of decisions. `key_name` is of the key that dismissed it. */
export const triageColumns = 'owner, acknowledged_at, acknowledged_by, snoozed_until, dismissed_at, key_name, note'

export function toTriaged(row: Row): Triaged {
  return {
    owner: row.owner as string | null,
    acknowledgedAt: row.acknowledged_at as number | null,
    acknowledgedBy: row.acknowledged_by as string | null,
    snoozedUntil: row.snoozed_until as number | null,
    dismissedAt: row.dismissed_at as number | null,
    dismissedBy: row.key_name as string | null,
    note: row.note as string | null,
  }
}

export const nameOfKey = '(select name from api_keys where id = ?)'

/** Stores what people do, unless `condition` no longer holds: then it changes nothing and returns no row. */
export function triageStatement(
  subject: TriageSubject,
  condition: string,
  triage: Triage,
  at: Instant,
  by: NonNullable<Actor>,
): Statement {
  const { kind, id, prompt } = subject
  const { organisationId } = prompt
  const { steps: table, step } = tables[kind]
  const steps = stepsOf(triage)
  const details = Object.fromEntries(
    steps.map(([action, text]) => [
      action,
      action === 'comment' ? 'added' : (text ?? (action === 'owner' ? 'author' : 'yes')),
    ]),
  )
  return {
    ...decide(subject, condition, changesOf(triage, at, by)),
    andThen: (rows) =>
      rows.flatMap(() => [
        ...steps.map(([action, text]) =>
          statement(
            `insert into ${table} (organisation_id, ${step}, at, key_id, key_name, action, text)
             values (?, ?, ?, ?, ${nameOfKey}, ?, ?)`,
            [organisationId, id, at, by.keyId, by.keyId, action, text],
          ),
        ),
        auditEntry({
          ...{ organisationId, by, at, action: `${kind}.triaged` as const },
          subject: { id, name: prompt.name },
          details: { prompt: prompt.publicId, ...details },
        }),
      ]),
  }
}

export async function readSteps(
  database: Database,
  kind: TriagedKind,
  organisationId: number,
  id: number | string,
): Promise<TriageStep[]> {
  const { steps, step } = tables[kind]
  const rows = await database.rows(
    `select at, key_name, action, text from ${steps} where organisation_id = ? and ${step} = ? order by id limit 500`,
    [organisationId, id],
  )
  return rows.map((row) => ({
    at: row.at as number,
    by: row.key_name as string | null,
    action: row.action as TriageAction,
    text: row.text as string | null,
  }))
}

type Change = [set: string, values: Value[]]

function decide({ kind, id, prompt }: TriageSubject, condition: string, changes: Change[]): Statement {
  const table = tables[kind]
  // A comment alone changes nothing, but needs to know whether it is open.
  const set = changes.length === 0 ? 'note = note' : changes.map(([sql]) => sql).join(', ')
  return statement(
    `update ${table.decisions} set ${set} where organisation_id = ? and prompt_id = ? and ${table.id} = ? and ${condition}
     returning ${table.id} as id`,
    [...changes.flatMap(([, values]) => values), prompt.organisationId, prompt.id, id],
  )
}

function changesOf({ owner, acknowledged, snoozedUntil }: Triage, at: Instant, by: NonNullable<Actor>): Change[] {
  const changes: Change[] = []
  if (owner !== undefined) changes.push(['owner = ?', [owner]])
  if (acknowledged === true) changes.push([`acknowledged_at = ?, acknowledged_by = ${nameOfKey}`, [at, by.keyId]])
  if (acknowledged === false) changes.push(['acknowledged_at = null, acknowledged_by = null', []])
  if (snoozedUntil !== undefined) changes.push(['snoozed_until = ?', [snoozedUntil]])
  return changes
}

/** What is recorded of a triage, in the order in which it is shown. */
function stepsOf({ owner, acknowledged, snoozedUntil, comment }: Triage): [TriageAction, string | null][] {
  const steps: [TriageAction, string | null][] = []
  if (owner !== undefined) steps.push(['owner', owner])
  if (acknowledged !== undefined) steps.push([acknowledged ? 'acknowledged' : 'unacknowledged', null])
  if (snoozedUntil === null) steps.push(['awake', null])
  else if (snoozedUntil !== undefined) steps.push(['snoozed', isoTime(snoozedUntil)])
  if (comment !== undefined) steps.push(['comment', comment])
  return steps
}
