import { accessRoles, isSigningId, type Role, validPromptLimit } from '../domain/access/api-key.ts'
import { auditActions } from '../domain/access/audit.ts'
import { normalEmail } from '../domain/access/email-address.ts'
import { personRoles, roleSources } from '../domain/access/person.ts'
import { plans } from '../domain/access/plan.ts'
import { channels } from '../domain/alerts/alert.ts'
import { alertDeliveryStates } from '../domain/alerts/delivery.ts'
import { alertEvents, deliveryEvents } from '../domain/alerts/event.ts'
import type { Message } from '../domain/alerts/message.ts'
import { noticeKinds, noticeStates } from '../domain/alerts/notice.ts'
import { signalChanges } from '../domain/alerts/signal-event.ts'
import type { ArchiveRow, LastIds, NumberedTable } from '../domain/archive/archive.ts'
import { maxDeliveredBytes } from '../domain/delivery/live-text.ts'
import { validUndelivered } from '../domain/delivery/settings.ts'
import { validProductionEnvironments } from '../domain/deployments/production.ts'
import { deploymentStates, wholeShare } from '../domain/deployments/state.ts'
import { invalidField } from '../domain/errors.ts'
import { validGlob } from '../domain/glob.ts'
import { actions, isWebUrl } from '../domain/history/entry.ts'
import { decodeLikelihood } from '../domain/impact/model/drift-store.ts'
import { validSegmentKeys } from '../domain/impact/reading/segment-keys.ts'
import { lookupId } from '../domain/prompt.ts'
import { proposalFiles, proposalModes, proposalStates } from '../domain/proposals/proposal.ts'
import { repairs, validNote } from '../domain/regressions/regression.ts'
import { deliveryStates } from '../domain/repositories/delivery.ts'
import { forgeNames, isHookId, validPathPattern, validSimilarity } from '../domain/repositories/repository.ts'
import { validRepositoryUrl } from '../domain/repositories/repository-url.ts'
import { validHostKey } from '../domain/repositories/ssh-key.ts'
import { maxCommentLength } from '../domain/signals/details.ts'
import { signalValues, validMetadata } from '../domain/signals/signal.ts'
import { isVersionText, maxLabelLength } from '../domain/signals/version.ts'
import { adapterNames, decodeSettings } from '../domain/sources/source.ts'
import { type Evaluation, rejectionReasons } from '../domain/telemetry/evaluation.ts'
import { outcomes, telemetryKinds } from '../domain/telemetry/telemetry.ts'
import { isLongerThan, validLine } from '../domain/text.ts'
import { yearTenThousand } from '../domain/time.ts'
import { triageActions } from '../domain/triage.ts'
import { isTrialId, type TrialProgress, trialEndings, trialStates } from '../domain/trials/trial.ts'
import { decodeCandidates } from '../store/sql/shift-candidates.ts'
import { checkPullDocument } from './pull-document.ts'

/** What the rules need to know about this service and the archive. */
export interface RuleContext {
  allowLocal: boolean
  lastIds: LastIds
}

/** Throws if the value, which is not null, is not one that the service itself would have stored. */
type Rule = (value: string | number, context: RuleContext, field: string) => void

const sha = pattern(/^[0-9a-f]{7,64}$/, 'must be a git hash')
const sha256 = pattern(/^[0-9a-f]{64}$/, 'must be a SHA-256 hash')
const sealed = pattern(/^v[12]:[0-9a-zA-Z+/=:]+$/, 'must be an encrypted value')
const version = check((text) => isVersionText(text), 'must be a commit SHA, a history entry or a label')
const versionOrNone = check((text) => text === '' || isVersionText(text), 'must be empty or a version')
const label = check(
  (text) => !/\p{Cc}/u.test(text) && text.isWellFormed() && !isLongerThan(text, maxLabelLength),
  'must be one line',
)
const subject: Rule = (value, _context, field) => {
  validLine(field, String(value), maxLabelLength)
}
const anyText: Rule = (value, _context, field) => {
  if (!String(value).isWellFormed() || String(value).includes('\0')) throw invalidField(field, 'must be valid Unicode')
}
const line: Rule = (value, _context, field) => {
  if (value !== '') validLine(field, String(value), 2_000)
}
const name: Rule = (value, _context, field) => {
  validLine(field, String(value), 1_000)
}
const webUrl: Rule = (value, _context, field) => {
  validLine(field, String(value), 2_000)
  if (!isWebUrl(String(value))) throw invalidField(field, 'must be an http or https URL')
}
const sshKey: Rule = (value, _context, field) => {
  if (validHostKey(String(value)) !== value) throw invalidField(field, 'must be an ssh key without a comment')
}
const flag: Rule = (value, _context, field) => {
  if (value !== 0 && value !== 1) throw invalidField(field, 'must be 0 or 1')
}
const wholeNumber: Rule = (value, _context, field) => {
  if (Number(value) < 0 || Number(value) >= yearTenThousand) throw invalidField(field, 'is out of range')
}
const segmentKeys = check((text) => isTextList(text, validSegmentKeys), 'must be a JSON array of up to five keys')
// The position of a commit on its branch may be below zero.
const anyNumber: Rule = () => {}
const share: Rule = (value, _context, field) => {
  if (Number(value) < 0 || Number(value) > wholeShare) throw invalidField(field, `must be from 0 to ${wholeShare}`)
}
const signedShare: Rule = (value, context, field) => share(Math.abs(Number(value)), context, field)
const hiddenStatus: Rule = (value, _context, field) => {
  if (Number(value) < -1 || Number(value) > 2) throw invalidField(field, 'must be the result of a check, -1 to 2')
}

const shiftId = pattern(/^shf_[0-9a-f]{24}$/, 'must be shf_ and 24 hexadecimal digits')
const note: Rule = (value, context, field) => {
  anyText(value, context, field)
  validNote(String(value))
}
const trialId = check(isTrialId, 'must be trl_ and 24 letters and digits')

const hint = pattern(/^(?:[0-9A-Za-z]{4})?$/, 'must be four characters, or empty')
const hash43 = pattern(/^[0-9A-Za-z_-]{43}$/, 'must be a hash')
const traceId = pattern(/^[0-9a-f]{32}$/, 'must be 32 hexadecimal digits')
const emailAddress = check((text) => normalEmail(text) === text, 'must be an email address in lower case')

const progress: Rule = (value, { lastIds }, field) => {
  const { read, late }: TrialProgress = JSON.parse(String(value))
  for (const { at, id } of late === null ? [read] : [read, late]) {
    const isValid = Number.isSafeInteger(at) && Number.isSafeInteger(id) && id >= 0 && id <= lastIds.signals
    if (!isValid) throw invalidField(field, 'must have positions of votes')
  }
}

const candidates: Rule = (value, context, field) => {
  const { count, changes } = decodeCandidates(String(value))
  wholeNumber(count, context, field)
  for (const { entryId, share: part } of changes) {
    if (!Number.isSafeInteger(entryId) || entryId < 1 || entryId > context.lastIds.history_entries) {
      throw invalidField(field, 'must be history entries')
    }
    share(part * wholeShare, context, field)
  }
}

/** The rules for columns that are not covered by `defaultRule`, by table. */
const rules: Record<string, Record<string, Rule>> = {
  organisations: {
    name,
    plan: oneOf(plans),
    sealed_voter_key: sealed,
    segment_keys: segmentKeys,
    delivers: flag,
    undelivered: check((text) => isTextList(text, validUndelivered), 'must be a JSON array of globs'),
    evaluation_rules: check(isJsonList, 'must be a JSON array'),
  },
  api_keys: {
    name,
    role: oneOf(accessRoles),
    hash: sha256,
    hint,
    signing_id: check(isSigningId, 'must be 16 letters and digits'),
    sealed_secret: sealed,
  },
  people: {
    name,
    email: emailAddress,
    role_from: oneOf(roleSources),
  },
  repositories: {
    forge: oneOf(forgeNames),
    url: (value, { allowLocal }) => validRepositoryUrl(String(value), { allowLocal, allowHttp: true }),
    path: (value) => validPathPattern(String(value)),
    similarity: (value) => validSimilarity(Number(value)),
    hook_id: check(isHookId, 'must be 24 letters and digits'),
    ssh_public_key: sshKey,
    ssh_host_key: sshKey,
    sealed_token: sealed,
    sealed_ssh_key: sealed,
    sealed_secret: sealed,
    sealed_old_secret: sealed,
    default_branch: check(isBranchName, 'must be a branch name'),
    tip: sha,
    web_url: webUrl,
    last_error: anyText,
    incomplete: flag,
    connected_by_operator: flag,
    production_environments: check(
      (text) => isTextList(text, validProductionEnvironments),
      'must be a JSON array of globs',
    ),
  },
  prompts: {
    name,
    public_id: check((text) => lookupId(text) === text, 'must be pmt_ and 24 letters and digits'),
    path: anyText,
    has_unique_name: flag,
    segment_keys: segmentKeys,
  },
  history_entries: {
    action: oneOf(actions),
    commit_sha: sha,
    pr_url: webUrl,
    message: anyText,
    path: anyText,
    old_path: anyText,
    before_blob: sha,
    after_blob: sha,
    seq: anyNumber,
    too_large: flag,
    hidden_characters: hiddenStatus,
  },
  pulls: { settled: flag, document: (value, { lastIds }) => checkPullDocument(String(value), lastIds) },
  edits: {
    commit_sha: sha,
    old_blob: sha,
    new_blob: sha,
    message: anyText,
    path: anyText,
    old_path: anyText,
    seq: anyNumber,
    too_large: flag,
  },
  pushes: { after_sha: sha, before_sha: pattern(/^([0-9a-f]{7,64})?$/, 'must be a git hash or empty') },
  deliveries: { state: oneOf(deliveryStates), body: anyText, error: anyText },
  deployments: {
    commit_sha: sha,
    state: oneOf(deploymentStates),
    flagged: flag,
    production: flag,
    share: (value, _context, field) => {
      if (Number(value) < 1 || Number(value) > wholeShare) throw invalidField(field, `must be from 1 to ${wholeShare}`)
    },
    source: oneOf(['api', ...forgeNames]),
  },
  prompt_wander: {
    likelihoods: check((text) => decodeLikelihood(text) !== null, 'must be the likelihoods of a prompt'),
  },
  shifts: { rate_before: share, rate_after: share, candidates, shift_id: shiftId },
  shift_triage: { shift_id: shiftId, rate_before: share, rate_after: share, note },
  shift_steps: { shift_id: shiftId, action: oneOf(triageActions), text: anyText },
  regressions: {
    commit_sha: sha,
    // A withdrawn one is stored as repaired.
    state: oneOf(['open', 'repaired', 'dismissed']),
    rate_before: share,
    rate_after: share,
    difference: signedShare,
    low: signedShare,
    high: signedShare,
    repaired_by: oneOf(repairs),
    note,
  },
  alerts: {
    name,
    public_id: pattern(/^alr_[0-9A-Za-z]{24}$/, 'must be alr_ and 24 letters and digits'),
    channel: oneOf(channels),
    sealed_target: sealed,
    sealed_secret: sealed,
    sealed_old_secret: sealed,
    prompts: (value) => validGlob('prompts', String(value)),
    events: check((text) => isTextList(text, checkEvents), 'must be a JSON array of events'),
    signals: flag,
  },
  notices: { kind: oneOf(noticeKinds), state: oneOf(noticeStates) },
  alert_deliveries: {
    public_id: pattern(/^msg_[0-9A-Za-z]{24}$/, 'must be msg_ and 24 letters and digits'),
    event: oneOf(deliveryEvents),
    state: oneOf(alertDeliveryStates),
    message: check((text) => isMessage(text), 'must be the message of an alert'),
    response: anyText,
    error: anyText,
  },
  sources: {
    name,
    public_id: pattern(/^src_[0-9A-Za-z]{24}$/, 'must be src_ and 24 letters and digits'),
    adapter: oneOf(adapterNames),
    settings: check(isSettings, 'must be the settings of a source'),
    sealed_secret: sealed,
  },
  regression_steps: { action: oneOf(triageActions), text: anyText },
  proposals: {
    mode: oneOf(proposalModes),
    files: oneOf(proposalFiles),
    branch: pattern(/^promptledger\/revert-\d{1,15}-[0-9a-f]{6}$/, 'must be the branch of a proposal'),
    state: oneOf(proposalStates),
    active: flag,
    pr_url: webUrl,
    proposed_by: name,
  },
  trials: {
    trial_id: trialId,
    commit_sha: sha,
    state: oneOf(trialStates),
    share,
    shares: check(isJsonList, 'must be a JSON array'),
    ramp: check(isJsonObject, 'must be a JSON object'),
    verdict: oneOf(['better', 'worse']),
    mismatch: flag,
    findings: check(isJsonObject, 'must be a JSON object'),
    started_by: name,
    reason: oneOf(trialEndings),
  },
  trial_progress: { trial_id: trialId, progress },
  trial_voters: { trial_id: trialId, voter: hash43 },
  delivered_texts: { blob: sha, text: anyText },
  live_texts: { commit_sha: sha, blob: sha },
  shares: { token_hash: sha256, hint, includes_signals: flag },
  invitations: { role: oneOf(personRoles), email: emailAddress, token_hash: sha256, hint },
  trial_prompts: {
    trial_id: trialId,
    blob: sha,
    controls: check((text) => isTextList(text, checkHashes), 'must be a JSON array of git hashes'),
  },
  trial_exposures: { trial_id: trialId, source: pattern(/^[\x21-\x7e]{1,64}$/, 'must be visible ASCII'), share },
  trial_labels: { share, head: sha, actor: name, trial_id: trialId },
  briefings: { head: sha },
  commit_places: { commit_sha: sha, anchor_sha: sha, checked_tip: sha, located: flag, seq: anyNumber },
  audit: {
    action: oneOf(auditActions),
    subject_id: pattern(
      /^(?:[1-9]\d{0,14}|(?:pmt|alr|msg|trl|src|shf)_[0-9A-Za-z]{24})$/,
      'must be the ID of a resource',
    ),
    details: check(isAuditDetails, 'must be a JSON object of texts and numbers'),
    seq: (value, _context, field) => {
      if (Number(value) < 1) throw invalidField(field, 'must be at least 1')
    },
    hash: sha256,
  },
  audit_heads: { hash: pattern(/^(?:[0-9a-f]{64})?$/, 'must be a SHA-256 hash') },
  idempotency_keys: { key: pattern(/^[\x21-\x7e]{1,255}$/, 'must be 1 to 255 visible ASCII characters') },
  signals: {
    value: oneOf(signalValues),
    metadata: (value) => {
      if (!isJsonObject(validMetadata(String(value)))) throw invalidField('metadata', 'must be a JSON object')
    },
    comment: (value, context, field) => {
      anyText(value, context, field)
      if (isLongerThan(String(value), maxCommentLength)) {
        throw invalidField(field, `must be at most ${maxCommentLength} characters long`)
      }
    },
    version,
    subject,
    voter: hash43,
    trace_id: traceId,
  },
  signal_events: {
    kind: oneOf(signalChanges),
    event_id: pattern(/^evt_[0-9A-Za-z]{24}$/, 'must be evt_ and 24 letters and digits'),
  },
  version_hours: { version },
  trace_links: {
    trace_id: traceId,
    span_id: pattern(/^[0-9a-f]{16}$/, 'must be 16 hexadecimal digits'),
    version,
    model: label,
    response_id: label,
  },
  exposure_hours: { version: versionOrNone, model: label },
  evaluation_hours: { version: versionOrNone, name: label },
  evaluation_events: { event_id: hash43 },
  waiting_evaluations: {
    event_id: hash43,
    trace_id: pattern(/^(?:[0-9a-f]{32})?$/, 'must be 32 hexadecimal digits, or empty'),
    response_id: label,
    document: check((text) => isEvaluation(text), 'must be an evaluation'),
  },
  telemetry_outcomes: {
    kind: oneOf(telemetryKinds),
    outcome: oneOf([...outcomes, ...rejectionReasons]),
    detail: label,
  },
  signal_subjects: { value: oneOf(signalValues), version, subject },
}

/** What must hold between the columns of a row, by table. */
const rowRules: Record<string, (row: Record<string, ArchiveRow[number]>) => void> = {
  deployments: ({ repository_id, prompt_id }) => {
    const hasBoth = repository_id !== null && prompt_id !== null
    if (hasBoth || (repository_id === null && prompt_id === null)) {
      throw invalidField('prompt_id', 'must be null if repository_id is set')
    }
  },
  alerts: ({ channel, signals }) => {
    if (signals === 1 && channel !== 'cloudevents')
      throw invalidField('signals', 'must be 0 unless the channel is cloudevents')
  },
  delivered_texts: ({ size, text }) => {
    if (size !== Buffer.byteLength(text as string) || size > maxDeliveredBytes) {
      throw invalidField('size', `must be the bytes of the text, at most ${maxDeliveredBytes}`)
    }
  },
  api_keys: ({ role, prompts }) => validPromptLimit(role as Role, prompts as string | null),
  // Without the key of the server, any server would be accepted.
  repositories: ({ sealed_ssh_key, ssh_public_key, ssh_host_key }) => {
    const parts = [sealed_ssh_key, ssh_public_key, ssh_host_key].filter((part) => part != null)
    if (parts.length % 3 !== 0) throw invalidField('ssh_host_key', 'must accompany the deploy key')
  },
}

export function rowRuleFor(table: string): ((row: Record<string, ArchiveRow[number]>) => void) | null {
  return rowRules[table] ?? null
}

/** The rule for a column. Text that has none of its own must be one line without control characters. */
export function ruleFor(table: string, column: string, kind: 'text' | 'integer' | NumberedTable): Rule | null {
  const own = rules[table]?.[column]
  if (own !== undefined) return own
  if (kind === 'text') return line
  // References are checked when the file is read.
  return kind === 'integer' ? wholeNumber : null
}

function oneOf(allowed: readonly string[]): Rule {
  return (value, _context, field) => {
    if (!allowed.includes(String(value))) throw invalidField(field, `must be one of ${allowed.join(', ')}`)
  }
}

function pattern(shape: RegExp, problem: string): Rule {
  return check((text) => shape.test(text), problem)
}

function check(isValid: (text: string) => boolean, problem: string): Rule {
  return (value, _context, field) => {
    if (!isValid(String(value))) throw invalidField(field, problem)
  }
}

/** Whether git accepts the name as part of a ref, and takes it for nothing else. */
function isBranchName(text: string): boolean {
  return /^[^-\s:~^?*[\\\p{Cc}][^\s:~^?*[\\\p{Cc}]*$/u.test(text) && !text.includes('..') && text.length <= 1_000
}

function isJsonList(text: string): boolean {
  try {
    return Array.isArray(JSON.parse(text))
  } catch {
    return false
  }
}

function isJsonObject(text: string): boolean {
  return parseObject(text) !== null
}

/** Whether it is a JSON array of texts that the check accepts. It rejects others by an error. */
function isTextList(text: string, check: (texts: string[]) => unknown): boolean {
  try {
    const texts: unknown = JSON.parse(text)
    if (!Array.isArray(texts) || !texts.every((each) => typeof each === 'string')) return false
    check(texts)
    return true
  } catch {
    return false
  }
}

function checkHashes(hashes: string[]): void {
  if (!hashes.every((hash) => /^[0-9a-f]{7,64}$/.test(hash))) throw invalidField('controls', 'must be git hashes')
}

function checkEvents(events: string[]): void {
  const known: readonly string[] = alertEvents
  if (!events.every((event) => known.includes(event))) throw invalidField('events', 'must be names of events')
}

/** Whether IDs in it can be shifted. What else it says only reaches the organisation's own alerts. */
function isMessage(text: string): boolean {
  const message = parseObject(text) as Partial<Message> | null
  return message !== null && typeof message.organisation?.id === 'number' && typeof message.at === 'number'
}

/** Whether the ID of an entry in it can be shifted. */
function isEvaluation(text: string): boolean {
  const evaluation = parseObject(text) as Partial<Evaluation> | null
  return evaluation !== null && (evaluation.version === null || isVersionText(String(evaluation.version)))
}

/** Whether the mapping of a source can be applied. What a generic webhook needs is checked when an event arrives. */
function isSettings(text: string): boolean {
  return decodeSettings(text) !== null
}

function isAuditDetails(text: string): boolean {
  const details = parseObject(text)
  return details !== null && Object.values(details).every((value) => ['string', 'number'].includes(typeof value))
}

function parseObject(text: string): object | null {
  try {
    const value: unknown = JSON.parse(text)
    return typeof value === 'object' && value !== null && !Array.isArray(value) ? value : null
  } catch {
    return null
  }
}
