import assert from 'node:assert/strict'
import { operator } from '../server/src/domain/access/audit.ts'
import { createInvitation } from '../server/src/domain/access/invitation.ts'
import { createShare } from '../server/src/domain/access/share.ts'
import type { HistoryEntry } from '../server/src/domain/history/entry.ts'
import { defaultDrift } from '../server/src/domain/impact/model/drift.ts'
import { generateSshKey } from '../server/src/domain/repositories/ssh-key.ts'
import type { StoredShift } from '../server/src/domain/shifts/shift.ts'
import { day } from '../server/src/domain/time.ts'
import { startProgress } from '../server/src/domain/trials/count-votes.ts'
import { archiveTables, sourceOf } from '../server/src/store/sql/archive-tables.ts'
import { addAlert } from './alerts.ts'
import { postDeployment } from './deployments.ts'
import { bob } from './git-repository.ts'
import { githubDeployment } from './payloads/deployments.ts'
import { queryEach, queryRows } from './rows.ts'
import { connectedScenario, type Scenario } from './scenario.ts'
import { deployedEntry, type Tenant, type TestService } from './service.ts'
import { inBatches } from './signals.ts'
import { addSource } from './sources.ts'

export interface FilledDatabase {
  /** Has a connected repository, on the Free plan, two signals below its limit. */
  scenario: Scenario
  tenant: Tenant
  /** Another organisation. */
  other: Tenant
  /** Of an active link to the prompt of the tenant. */
  shareToken: string
}

/** Unusual JSON that has to be stored unchanged. */
export const oddMetadata =
  '{"big":12345678901234567890, "é\\u0000\\ud83d":"\\n\\\\\\"{}[],", "😀":"Grüße\u2028‮", "__proto__": null}'
export const idempotencyKey = 'vote-81f3~!'

/** Fills every column of every table, through the service itself wherever it can be. */
export async function fillDatabase(service: TestService): Promise<FilledDatabase> {
  const other = await service.tenant('business', 'admin')
  await other.signal({ value: 'negative' })
  const scenario = await connectedScenario(service)
  const { tenant } = scenario
  await service.store.organisations.setPlan(tenant.organisation.id, 'team', service.now, operator)
  await service.store.organisations.setPlan(tenant.organisation.id, 'free', service.now, operator)
  await changeHistory(scenario)
  const shareToken = await useKeys(tenant)
  await recordSignals(tenant)
  await other.recordEntry({
    action: 'pr_merged',
    user: { name: 'Zoë 😀', email: 'zoe@example.com' },
    prNumber: 3,
    prUrl: 'https://example.com/3',
  })
  await recordWithKey(other)
  await recordDeployments(scenario, other)
  const { store } = service
  const { hookId } = scenario.repository
  const { vault } = service.syncContext
  await store.repositories.rotateSecret(
    scenario.repository,
    { sealed: vault.encrypt(scenario.secret, { hookId, kind: 'webhook_secret' }), oldUntil: service.now + 1_000 },
    service.now,
    operator,
  )
  const gone = await connectedScenario(service)
  await store.repositories.disconnect(gone.repository, service.now, operator)
  await store.prompts.delete(gone.tenant.prompt, service.now, operator)
  // States that the service reaches only after a long time or a failure.
  const { url } = service
  const token = vault.encrypt('token', { hookId, kind: 'token' })
  const sshKey = vault.encrypt('ssh', { hookId, kind: 'ssh_key' })
  const { publicKey } = generateSshKey()
  const { id, organisationId } = scenario.repository
  const updates = [
    `repositories set sealed_token = '${token}', last_error = 'odd', web_url = 'https://forge.example/x', incomplete = 1 where id = ${id}`,
    `repositories set sealed_ssh_key = '${sshKey}', ssh_public_key = '${publicKey}', ssh_host_key = '${publicKey}' where id = ${id}`,
    `repositories set rejected_deliveries = 2, last_rejected_at = 5, last_rejection = 'the signature is wrong' where id = ${id}`,
    `repositories set reports_on_pulls = 1, report_error = 'the token lacks a scope', unread_pulls_below = 40 where id = ${id}`,
    `repositories set production_environments = '["production","live-*"]' where id = ${id}`,
    `commit_places set orphaned_at = 8 where repository_id = ${id} and located = 1`,
    `history_entries set hidden_characters = 1, too_large = 1 where repository_id = ${id}`,
    `edits set too_large = 1 where repository_id = ${id}`,
    `repositories set lease_owner = 'a', lease_until = 5, delivery_error = 'the texts are too large' where id = ${gone.repository.id}`,
    `deliveries set error = 'timed out', attempts = 3 where repository_id = ${id}`,
    `edits set old_path = 'o', side_author_name = 's', side_author_email = 'e', held_until = 7, orphaned_at = 8, mark = 9,
       pull = 10, actor = 'a' where repository_id = ${gone.repository.id}`,
    `history_entries set old_path = 'o', orphaned_at = 8, actor = 'a' where repository_id = ${gone.repository.id}`,
    `organisations set sealed_voter_key = '${vault.encrypt('key', { hookId: null, kind: 'voter_key' })}' where id = ${organisationId}`,
    `organisations set evaluation_rules = '[{"name":"Relevance","source":"judge","threshold":4}]' where id = ${organisationId}`,
    `organisations set segment_keys = '["model"]', delivers = 1, undelivered = '["internal/**"]' where id = ${organisationId}`,
    `prompts set segment_keys = '["locale","app"]' where organisation_id = ${organisationId}`,
    `idempotency_keys set status = 200 where key = 'deleted'`,
    `signals set version = '#1', subject = 's', voter = '${'v'.repeat(43)}', comment = 'two\nlines', received_at = created_at + 1, trace_id = '${'ab'.repeat(16)}'
       where metadata is not null`,
  ]
  await queryEach(
    url,
    updates.map((update) => `update ${update}`),
  )
  await storeJudgements(tenant)
  await storeAlerts(scenario)
  await storeTrials(scenario)
  await storeSource(scenario)
  await storeTelemetry(tenant)
  await queryRows(url, `update shares set regression_id = (select min(id) from regressions) where revoked_at is null`)
  await queryRows(
    url,
    `insert into version_hours select organisation_id, prompt_id, version, created_at - created_at % 3600000, 0, 1
     from signals where version is not null`,
  )
  await queryRows(
    url,
    `insert into signal_subjects select organisation_id, prompt_id, subject, id, id, value, version, created_at, received_at
     from signals where subject is not null`,
  )
  await store.signals.removeBatch(Date.parse('2026-02-01T00:00:00Z'))
  await assertEveryColumnFilled(url)
  return { scenario, tenant, other, shareToken }
}

async function changeHistory(s: Scenario): Promise<void> {
  s.git.commit('Be kinder\n\nGrüße 😀', { 'prompts/p.md': 'Be very kind.\n' })
  await s.push()
  s.git.switchTo('pull-7', 'main')
  s.git.commit('Change 7', { 'prompts/p.md': 'Be very very kind.\n' }, { author: bob })
  const head = s.git.head()
  s.git.push('pull-7:refs/pull/7/head')
  s.git.switchTo('main')
  await s.deliver(s.forge.pull({ action: 'opened', number: 7, head, openedAt: '2026-11-02T10:00:00Z' }))
}

async function storeTelemetry({ service, organisation, prompt }: Tenant): Promise<void> {
  const { telemetry } = service.store
  const call = { traceId: 'ab'.repeat(16), promptId: prompt.id, version: '#1', at: service.now }
  await telemetry.recordCalls(organisation.id, [
    { ...call, spanId: '1'.repeat(16), model: 'large-2', responseId: 'answer-1' },
    { ...call, spanId: '2'.repeat(16), version: null, model: null, responseId: null },
  ])
  // Of an earlier month, because scores count towards the limit.
  const at = service.now - 40 * day
  const waiting = { name: 'Helpful', version: `#1`, sender: null, traceId: 'cd'.repeat(16) }
  const document = {
    eventId: 'w'.repeat(43),
    traceId: waiting.traceId,
    responseId: 'answer-2',
    document: JSON.stringify(waiting),
  }
  await telemetry.addWaiting(organisation.id, [document], service.now)
  const outcome = { kind: 'logs', outcome: 'unknown_prompt', detail: 'odd 😀', records: 2 } as const
  await telemetry.countOutcomes(organisation.id, [outcome], service.now)
  const score = { eventId: 'e'.repeat(43), promptId: prompt.id, name: 'Relevance', version: '#1', at }
  await telemetry.recordScores(organisation.id, [{ ...score, value: 'negative' }], null, at)
}

async function useKeys(tenant: Tenant): Promise<string> {
  const { service } = tenant
  const send = (method: 'POST' | 'DELETE', path: string, payload?: object) =>
    service.app.inject({ method, url: `/api/v1${path}`, headers: tenant.headers, ...(payload && { payload }) })
  const { id } = (await send('POST', '/keys', { name: 'Schlüssel', role: 'ingest', prompts: 'prompts/**' })).json().data
  const rotated = (await send('POST', `/keys/${id}/rotate`, {})).json().data
  await send('DELETE', `/keys/${rotated.id}`)
  await send('POST', '/keys', { name: 'pages', role: 'signing' })
  const ada = { email: 'ada@example.com', name: 'Ada', subject: 'https://issuer.example 7' }
  const terms = { role: 'member', roleFrom: 'invitation', createdAt: service.now } as const
  const { people } = service.store
  const person = await people.add({ organisationId: tenant.organisation.id, ...ada, ...terms })
  await people.signedIn(person, ada, service.now)
  await people.setRole(person, 'viewer', 'admin', service.now, operator)
  await service.lastUsed.flush()
  return shareAndInvite(tenant)
}

/** A share link and an invitation that are open, and others that have ended. Returns the token of the link. */
async function shareAndInvite({ service, organisation, prompt }: Tenant): Promise<string> {
  const { store, now } = service
  const by = { keyId: (await store.keys.list(organisation.id))[0]?.id as number }
  const shared = { prompt, regressionId: null, includesSignals: true, expiresAt: null }
  const { token } = await createShare(store.shares, shared, now, by)
  const { share } = await createShare(store.shares, shared, now, by)
  await store.shares.revoke(prompt, share.id, now, by)
  const invited = { organisationId: organisation.id, role: 'member', email: 'grace@example.com' } as const
  await createInvitation(store.invitations, invited, now, by)
  const { invitation } = await createInvitation(store.invitations, invited, now, by)
  await store.invitations.revoke(organisation.id, invitation.id, now, by)
  const { invitation: used } = await createInvitation(store.invitations, invited, now, by)
  await store.invitations.accept(used, now)
  return token
}

async function recordWithKey({ service, path, headers }: Tenant): Promise<void> {
  const { action, user, commitSha, branchName } = deployedEntry(service.now)
  const entry = { action, user, commit_sha: commitSha, pr_number: null, pr_url: null, branch_name: branchName }
  const payload = { ...entry, created_at: new Date(service.now).toISOString() }
  const { statusCode } = await service.app.inject({ method: 'POST', url: `${path}/history`, headers, payload })
  assert.equal(statusCode, 201)
}

/** Of the repository by its webhook and by a key, and of a prompt. */
async function recordDeployments(scenario: Scenario, other: Tenant): Promise<void> {
  const { service, tenant, repository, git, secret } = scenario
  await scenario.deliver(githubDeployment(secret, { commit: git.head('main'), state: 'success', production: true }))
  const at = new Date(service.now - 1_000).toISOString()
  await postDeployment(service, tenant, `/repositories/${repository.id}`, {
    commit_sha: 'f'.repeat(40),
    at,
    model: 'large-1',
  })
  await scenario.sync()
  await postDeployment(service, other, `/prompts/${other.prompt.publicId}`, { commit_sha: 'a1'.repeat(20), share: 0.5 })
}

/** A shift of each cause, and regressions in each state. */
async function storeJudgements(tenant: Tenant): Promise<void> {
  const { service, prompt } = tenant
  const { drift, shifts, regressions } = service.store
  await drift.save(prompt, defaultDrift, service.now)
  const rates = { rateBefore: 0.9, rateAfter: 0.25 }
  const shift = { ...rates, entryId: null, sharedWith: null, candidates: null, foundAt: 8 }
  const entries = await Promise.all([1, 2, 3, 4].map((i) => tenant.recordEntry({ createdAt: service.now - i })))
  const [first, second, third] = entries as [HistoryEntry, HistoryEntry, HistoryEntry]
  await shifts.replace(prompt, [
    { at: 5, ...shift, between: [1, 9], entryId: first.id },
    { at: 6, ...shift, between: [1, 9], sharedWith: 3 },
    {
      at: 7,
      ...shift,
      between: [1, 9],
      entryId: second.id,
      candidates: { count: 2, changes: [second, third].map(({ id }, i) => ({ entryId: id, share: 0.5 - i / 4 })) },
    },
  ])
  const figures = {
    rateBefore: 0.9,
    rateAfter: 0.8,
    difference: -0.1,
    explanation: 'Fewer votes are positive.',
    evidence: 2.5,
    signalsBefore: 900,
    signalsAfter: 80,
    liveFrom: 4,
  }
  for (const { id, commitSha } of entries) {
    await regressions.open(prompt, { id, commitSha }, { ...figures, interval: [-0.2, 0.01] }, service.now)
  }
  const ids = (await regressions.ofPrompt(prompt)).map(({ id }) => id) as [number, number, number]
  await regressions.repair(prompt, ids[0], { at: service.now, by: 'revert', entryId: third.id })
  const url = `${tenant.path}/regressions/${ids[1]}/dismiss`
  const payload = { note: 'We accept it,\nfor now 😀' }
  const response = await service.app.inject({ method: 'POST', url, headers: tenant.headers, payload })
  assert.equal(response.statusCode, 200, response.body)
  const by = { keyId: (await service.store.keys.list(tenant.organisation.id))[0]?.id as number }
  const triage = {
    owner: 'ada@example.com',
    acknowledged: true,
    snoozedUntil: service.now + 1_000,
    comment: 'Grüße 😀',
  }
  await regressions.triage(prompt, ids[2], triage, service.now, by)
  const [, shared, unexplained] = (await shifts.ofPrompt(prompt)) as [StoredShift, StoredShift, StoredShift]
  await shifts.triage(prompt, shared.id, triage, service.now, by)
  await shifts.dismiss(prompt, unexplained.id, 'We expected it 😀', service.now, by)
  await regressions.withdraw(prompt, ids[2], { at: service.now, explanation: 'Votes were deleted.' })
  assert.notEqual(second.id, first.id)
}

/** A trial that has ended, with everything that the judge finds, and one that runs. */
async function storeTrials({ service, tenant, repository }: Scenario): Promise<void> {
  const { store, now } = service
  const { id: organisationId } = tenant.organisation
  const by = { keyId: (await store.keys.list(organisationId))[0]?.id as number }
  const trial = { organisationId, repositoryId: repository.id, prNumber: 7, commitSha: 'c'.repeat(40), share: 0.05 }
  const ramp = { shares: [0.05, 0.2], votes: 200 }
  const prompts = [
    { prompt: tenant.prompt, blob: 'd'.repeat(40), text: 'Be kinder.\nGrüße 😀', controls: ['e'.repeat(40)] },
  ]
  const details = { ...trial, ramp, startedBy: 'ada', startedAt: now, prompts }
  const { deliveredBytes } = service.repositories
  const ended = await store.trials.start({ ...details, id: `trl_${'a'.repeat(24)}` }, by, deliveredBytes)
  await store.trials.recordExposures(organisationId, by.keyId, 'b3f1', [
    { trial: ended.id, share: 0.05, control: 90, candidate: 5 },
  ])
  const arms = {
    control: { exposures: 90, voters: 20, positive: 18 },
    candidate: { exposures: 5, voters: 2, positive: 0 },
  }
  const mismatch = 'exposures' as const
  const findings = {
    judgedAt: now,
    mismatch,
    arms,
    difference: -0.9,
    interval: [-1, -0.1] as [number, number],
    daysLeft: null,
  }
  await store.trials.change(ended, { findings, verdict: 'worse', mismatch: true, ending: 'worse' }, ['worse'], now)
  const second = { ...details, id: `trl_${'b'.repeat(24)}`, prNumber: null, ramp: null }
  const running = await store.trials.start(second, by, deliveredBytes)
  const newest = `select max(id) as id from signals where organisation_id = ${organisationId}`
  const read = { at: now, id: Number((await queryRows(service.url, newest))[0]?.id) }
  const progress = { ...startProgress(running, { positive: 9, negative: 1 }), read, late: read }
  await store.trials.startProgress(running, progress)
  await store.trials.saveProgress(running, { revision: 0, progress }, ['v'.repeat(43)])
  await service.storeLiveTexts()
  await queryRows(
    service.url,
    `insert into trial_labels (organisation_id, repository_id, pr_number, share, head, actor, changed_at, trial_id, due_at, attempts)
     values (${organisationId}, ${repository.id}, 7, 50000, '${trial.commitSha}', 'grace', ${now}, '${ended.id}', ${now}, 1)`,
  )
}

/** A source with settings of every kind, from which something arrived. */
async function storeSource({ service, tenant }: Scenario): Promise<void> {
  const settings = { prompt: 'Support 😀', positive: ['great'], negative: ['1'], midpoint: 2.5 }
  const { source } = await addSource(service, tenant.organisation.id, 'webhook', settings)
  const at = { lastReceivedAt: 5, lastRecordedAt: 6, lastRejectedAt: 7, lastRejection: 'the value "meh" is not known' }
  const polled = await addSource(service, tenant.organisation.id, 'langfuse', { score: 'user-feedback' })
  await service.store.sources.continueAt(polled.source, { readUntil: 8, pollAt: 9 })
  await service.store.sources.count(source, { received: 3, recorded: 2, rejected: 1, ...at })
}

/** An alert with both secrets, one that gets signals and has one waiting, a notice about the regressions, deliveries in different states, and a comment on a pull request. */
async function storeAlerts({ service, tenant, repository }: Scenario): Promise<void> {
  const organisationId = tenant.organisation.id
  const alert = await addAlert(service, organisationId, { prompts: 'prompts/**', repeatMs: 7_200_000 })
  const sealed = service.syncContext.vault.encrypt('whsec_new', { alertId: alert.publicId, kind: 'alert_secret' })
  await service.store.alerts.rotateSecret(alert, { sealed, oldUntil: service.now + 1_000 }, service.now, operator)
  const other = await addAlert(service, organisationId, { channel: 'slack' })
  await service.store.alerts.disable(other, 'The receiver responded with 410 Gone.', service.now)
  const webhook = await addAlert(service, organisationId, { channel: 'cloudevents', signals: true })
  const sending = `signals_attempts = 1, signals_due_at = 5, signals_lease = 'lease'`
  await queryRows(service.url, `update alerts set ${sending} where id = ${webhook.id}`)
  const [entry] = (await service.store.history.page(tenant.prompt, { page: '1', limit: 1 })).entries
  const [regression] = await service.store.regressions.ofPrompt(tenant.prompt)
  const message = {
    event: 'regression.opened',
    at: service.now,
    organisation: { id: organisationId, name: 'Acme' },
    change: entry,
    title: "It's shorter 😀",
    repositoryId: repository.id,
    prompts: [{ prompt: tenant.prompt, regressionId: regression?.id, entryId: entry?.id, repairedEntry: null }],
    dedupKey: 'promptledger-1',
  }
  const json = JSON.stringify(message).replaceAll("'", "''")
  const delivery = `alert_deliveries (organisation_id, public_id, notice_id, alert_id, event, round, repeat, message, state, attempts,
    due_at, lease_owner, status, response, error, created_at, finished_at)`
  const inserts = [
    `notices (organisation_id, kind, subject, state, round, changes, opened_at, ended_at, due_at)
       values (${organisationId}, 'regression', 'commit/${'d'.repeat(40)}', 'open', 2, 3, 5, 6, 7)`,
    `notice_regressions select n.organisation_id, n.id, r.id from notices n, regressions r
       where n.organisation_id = r.organisation_id and n.subject = 'commit/${'d'.repeat(40)}' and r.state = 'open'`,
    `${delivery} select organisation_id, 'msg_${'a'.repeat(24)}', id, ${alert.id}, 'regression.opened', 1, 0, '${json}', 'failed', 11,
       5, null, 500, 'Oops', 'HTTP 500', 5, 6 from notices where subject = 'commit/${'d'.repeat(40)}'`,
    `${delivery} select organisation_id, 'msg_${'b'.repeat(24)}', id, null, 'regression.opened', 1, 0, '${json}', 'pending', 0,
       5, 'lease', null, null, null, 5, null from notices where subject = 'commit/${'d'.repeat(40)}'`,
    `${delivery} select organisation_id, 'msg_${'c'.repeat(24)}', id, ${other.id}, 'regression.dismissed', 1, 0, '${json}', 'cancelled', 0,
       5, null, null, null, 'Not sent', 5, 6 from notices where subject = 'commit/${'d'.repeat(40)}'`,
    `proposals (organisation_id, prompt_id, regression_id, repository_id, mode, files, branch, state, active, pr_number, pr_url, key_id,
       proposed_by, created_at, claimed_until)
       select organisation_id, prompt_id, id, ${repository.id}, 'revert', 'prompt', 'promptledger/revert-1-abcdef', 'open', 1, 9,
       'https://forge.example/acme/prompts/pulls/9', (select min(id) from api_keys where organisation_id = ${organisationId}), 'ada', 5, 6 from regressions where state = 'open'`,
    `signal_events select organisation_id, max(id), ${tenant.prompt.id}, 5, 'erased', 'evt_${'a'.repeat(24)}', 6 from signals
       where organisation_id = ${organisationId} group by organisation_id`,
    `pull_comments values (${organisationId}, ${repository.id}, 'pull/7', '12', 5, 6)`,
    `briefings values (${organisationId}, ${repository.id}, 7, '${'7'.repeat(40)}', 5, 6, 1)`,
  ]
  await queryEach(
    service.url,
    inserts.map((insert) => `insert into ${insert}`),
  )
}

/** Also deletes and erases signals, so that ids and hourly sums cover more than the rows left. */
async function recordSignals(tenant: Tenant): Promise<void> {
  const { service } = tenant
  const signal = {
    organisationId: tenant.organisation.id,
    promptId: tenant.prompt.id,
    metadata: null,
    value: 'positive',
  } as const
  const old = ['2026-01-31T23:00:00Z', '2026-09-01T00:00:00Z'].map((time) => ({
    ...signal,
    createdAt: Date.parse(time),
  }))
  await service.store.signals.import(inBatches(old))
  await tenant.fillMonth(993)
  await tenant.signal(`{"value":"negative","metadata":${oddMetadata}}`)
  await tenant.signal({ value: 'positive' }, { 'idempotency-key': idempotencyKey })
  await tenant.signal({ value: 'positive', metadata: { user: 'u-1' } })
  const { id } = (await tenant.signal({ value: 'negative' }, { 'idempotency-key': 'deleted' })).json().data
  await service.app.inject({ method: 'DELETE', url: `${tenant.path}/signals/${id}`, headers: tenant.headers })
  await service.app.inject({
    method: 'POST',
    url: '/api/v1/signals/erase',
    headers: tenant.headers,
    payload: { metadata: { user: 'u-1' } },
  })
}

/** Every row of every archived table, sorted and with numbers as text, so that both engines compare equal. */
export async function archivedRows(url: string): Promise<Record<string, (string | null)[][]>> {
  const statements = archiveTables.map(
    ({ name, columns }) => `select ${Object.keys(columns).join(', ')} from ${sourceOf(name)}`,
  )
  const [retention = [], ...tables] = await queryEach(url, ['select kept_since from signal_retention', ...statements])
  const sorted = tables.map((rows) =>
    rows
      .map((row) => JSON.stringify(Object.values(row).map((value) => (value === null ? null : String(value)))))
      .sort()
      .map((text) => JSON.parse(text)),
  )
  return {
    ...Object.fromEntries(archiveTables.map(({ name }, i) => [name, sorted[i]])),
    signal_retention: retention.map(({ kept_since }) => [String(kept_since)]),
  }
}

async function assertEveryColumnFilled(url: string): Promise<void> {
  const rows = await archivedRows(url)
  for (const { name, columns } of archiveTables) {
    for (const [i, column] of Object.keys(columns).entries()) {
      assert.ok(
        rows[name]?.some((row) => row[i] !== null),
        `${name}.${column} has no value, so its loss would go unnoticed`,
      )
    }
  }
}
