import type { AuditAction, AuditDetails } from '../../domain/access/audit.ts'
import type { ArchiveRow, ArchiveTable, NumberedTable, Offsets } from '../../domain/archive/archive.ts'
import type { Pull } from '../../domain/history/pull.ts'
import { entryVersion, parseVersion } from '../../domain/signals/version.ts'
import type { Evaluation } from '../../domain/telemetry/evaluation.ts'
import type { TrialProgress } from '../../domain/trials/trial.ts'
import { decodeCandidates, encodeCandidates } from './shift-candidates.ts'

/** Shifts every ID in the row by its table's offset, including those inside text and JSON. */
export function renumberedRow({ name, columns }: ArchiveTable, row: ArchiveRow, offsets: Offsets): ArchiveRow {
  const renumbered = Object.values(columns).map((kind, i) => {
    const value = row[i] ?? null
    return kind === 'text' || kind === 'integer' || value === null ? value : (value as number) + offsets[kind]
  })
  const names = Object.keys(columns)
  if (name === 'audit') {
    const table = subjects[row[names.indexOf('action')] as AuditAction] ?? null
    const at = names.indexOf('subject_id')
    if (table !== null) renumbered[at] = String(Number(row[at]) + offsets[table])
  }
  for (const [column, renumberedText] of Object.entries({ version: renumberedVersion, ...texts[name] })) {
    const at = names.indexOf(column)
    const text = at < 0 ? null : (row[at] ?? null)
    if (text !== null) renumbered[at] = renumberedText(text as string, offsets)
  }
  return renumbered
}

/** The columns with IDs inside of text. */
const texts: Record<string, Record<string, (text: string, offsets: Offsets) => string>> = {
  audit: { details: renumberedDetails },
  pulls: { document: renumberedPull },
  alert_deliveries: { message: renumberedMessage },
  shifts: { candidates: renumberedCandidates },
  trial_progress: { progress: renumberedProgress },
  waiting_evaluations: { document: renumberedEvaluation },
}

/** The table that the subject of an audit entry is in. Prompts use their public ID, which never changes. */
const subjects: Record<AuditAction, NumberedTable | null> = {
  'key.created': 'api_keys',
  'key.rotated': 'api_keys',
  'key.revoked': 'api_keys',
  'key.rejected': 'api_keys',
  'session.started': 'api_keys',
  'session.ended': 'api_keys',
  'person.added': 'people',
  'person.role_changed': 'people',
  'person.disabled': 'people',
  'person.enabled': 'people',
  'person.deleted': 'people',
  'invitation.created': 'invitations',
  'invitation.revoked': 'invitations',
  'share.created': null,
  'share.revoked': null,
  'prompt.created': null,
  'prompt.renamed': null,
  'prompt.deleted': null,
  'prompt.segments_changed': null,
  'repository.connected': 'repositories',
  'repository.updated': 'repositories',
  'repository.disconnected': 'repositories',
  'repository.secret_rotated': 'repositories',
  'secrets.reencrypted': 'organisations',
  'history.recorded': null,
  'history.imported': null,
  'history.exported': null,
  'deployment.recorded': 'deployments',
  'regression.dismissed': 'regressions',
  'regression.triaged': 'regressions',
  'shift.dismissed': null,
  'shift.triaged': null,
  'proposal.opened': 'proposals',
  'trial.started': null,
  'trial.changed': null,
  'trial.ended': null,
  'alert.added': null,
  'alert.updated': null,
  'alert.removed': null,
  'alert.secret_rotated': null,
  'alert.tested': null,
  'alert.delivery_retried': null,
  'source.added': null,
  'source.updated': null,
  'source.removed': null,
  'signal.retracted': 'signals',
  'signals.erased': 'organisations',
  'signals.exported': null,
  'signals.imported': null,
  'organisation.renamed': 'organisations',
  'organisation.plan_changed': 'organisations',
  'organisation.segments_changed': 'organisations',
  'organisation.delivery_changed': 'organisations',
  'organisation.evaluations_changed': 'organisations',
  'organisation.exported': 'organisations',
  'organisation.imported': 'organisations',
  'audit.chained': 'organisations',
}

/** Members of the details of an audit entry that are IDs. */
const detailIds: Record<string, NumberedTable> = {
  new_key_id: 'api_keys',
  entry_id: 'history_entries',
  repository_id: 'repositories',
  regression_id: 'regressions',
}

function renumberedDetails(text: string, offsets: Offsets): string {
  const members = Object.entries(JSON.parse(text) as AuditDetails)
  if (!members.some(([name]) => Object.hasOwn(detailIds, name))) return text
  const renumbered = members.map(([name, value]) => {
    const table = Object.hasOwn(detailIds, name) ? detailIds[name] : undefined
    return [name, table === undefined ? value : (value as number) + offsets[table]]
  })
  return JSON.stringify(Object.fromEntries(renumbered))
}

/** A pull request's document contains prompt IDs. */
function renumberedPull(text: string, offsets: Offsets): string {
  const pull: Pull = JSON.parse(text)
  for (const file of pull.heads.flatMap(({ files }) => files)) {
    if (file.promptId !== null) file.promptId += offsets.prompts
  }
  return JSON.stringify(pull)
}

/** The candidates of a shift are history entries. */
function renumberedCandidates(text: string, offsets: Offsets): string {
  const { count, changes } = decodeCandidates(text)
  const renumbered = changes.map((each) => ({ ...each, entryId: each.entryId + offsets.history_entries }))
  return encodeCandidates({ count, changes: renumbered })
}

/** Positions in the order of votes have the ID of a signal, or 0 for the start of a moment. */
function renumberedProgress(text: string, offsets: Offsets): string {
  const progress: TrialProgress = JSON.parse(text)
  for (const position of [progress.read, progress.late]) if (position?.id) position.id += offsets.signals
  return JSON.stringify(progress)
}

/** The version of a signal may be the ID of a history entry. */
function renumberedVersion(text: string, offsets: Offsets): string {
  const version = parseVersion(text)
  return version?.kind === 'entry' ? entryVersion(version.id + offsets.history_entries) : text
}

function renumberedEvaluation(text: string, offsets: Offsets): string {
  const evaluation: Pick<Evaluation, 'version'> = JSON.parse(text)
  const { version } = evaluation
  return JSON.stringify({ ...evaluation, version: version === null ? null : renumberedVersion(version, offsets) })
}

/** The members of a message that are IDs, by their place in it. */
const messageIds: [path: string, table: NumberedTable][] = [
  ['organisation.id', 'organisations'],
  ['change.id', 'history_entries'],
  ['repositoryId', 'repositories'],
  ['repository.id', 'repositories'],
  ['trial.repositoryId', 'repositories'],
  ['prompts.regressionId', 'regressions'],
  ['prompts.entryId', 'history_entries'],
  ['prompts.repairedEntry.id', 'history_entries'],
]

/** Messages that are sent later link to the same things under their new IDs. */
function renumberedMessage(text: string, offsets: Offsets): string {
  const message = JSON.parse(text)
  for (const [path, table] of messageIds) shift(message, path.split('.'), offsets[table])
  return JSON.stringify(message)
}

function shift(value: unknown, [member = '', ...rest]: string[], offset: number): void {
  if (Array.isArray(value)) for (const each of value) shift(each, [member, ...rest], offset)
  if (typeof value !== 'object' || value === null || !Object.hasOwn(value, member)) return
  const object = value as Record<string, unknown>
  if (rest.length > 0) shift(object[member], rest, offset)
  else if (typeof object[member] === 'number') object[member] += offset
}
