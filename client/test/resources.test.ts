import assert from 'node:assert/strict'
import { renameSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { describe, test } from 'node:test'
import { syncOnce } from '../../server/src/follow/worker.ts'
import { addDelivery } from '../../testing/alerts.ts'
import { sqlite } from '../../testing/engines.ts'
import { GitRepository } from '../../testing/git-repository.ts'
import { deliveriesFrom } from '../../testing/payloads/deliveries.ts'
import { startReceiver } from '../../testing/receiver.ts'
import { NotFoundError, Promptledger, UnauthorizedError } from '../src/index.ts'
import { signToken } from '../src/resources/tokens.ts'
import { useLiveService } from './live-service.ts'

describe('Resources of the client', () => {
  const service = useLiveService(sqlite)
  const { proxy } = service
  const called = new Set<string>()

  /** A client with an admin key. Its operations are recorded for the last test. */
  async function admin() {
    const tenant = await service.tenant('free', 'admin')
    const ledger = service.ledger(tenant)
    proxy.fate = (_, { method, url }) => {
      called.add(`${method} ${url.replace(/\?.*/, '')}`)
      return { do: 'pass' }
    }
    return { tenant, ledger, promptId: tenant.prompt.publicId }
  }

  test('prompts can be created, renamed, listed and deleted', async () => {
    const { ledger } = await admin()
    const created = await ledger.prompts.create({ name: 'Support answers' })
    assert.match(created.id, /^pmt_/)
    assert.deepEqual(
      [created.name, created.path, created.last_change, created.verdict],
      ['Support answers', null, null, null],
    )
    assert.equal(created.signals.days.length, 30)
    const renamed = await ledger.prompts.rename(created.id, { name: 'Answers' })
    assert.deepEqual(await ledger.prompts.get(created.id), renamed)
    assert.deepEqual(renamed, { ...created, name: 'Answers' })
    const { data } = await ledger.prompts.list({ q: 'ANSW', sort: '-last_change' })
    assert.deepEqual(data, [renamed])
    assert.equal(await ledger.prompts.delete(created.id), undefined)
    await assert.rejects(ledger.prompts.get(created.id), NotFoundError)
  })

  test('evaluations have rules, and telemetry says what arrived', async () => {
    const { ledger } = await admin()
    const rules = [{ name: 'Relevance', source: 'judge' as const, threshold: 4 }]
    assert.deepEqual(await ledger.telemetry.setRules({ rules }), { rules })
    assert.deepEqual(await ledger.telemetry.rules(), { rules })
    assert.deepEqual(await ledger.telemetry.get(), { outcomes: [] })
  })

  test('segments can be declared for the organisation and for a prompt', async () => {
    const { ledger, promptId } = await admin()
    assert.deepEqual(await ledger.segments.declare({ keys: ['model', 'locale'] }), { keys: ['model', 'locale'] })
    assert.deepEqual(await ledger.segments.get(), { keys: ['model', 'locale'] })
    assert.deepEqual(await ledger.segments.ofPrompt(promptId), { keys: ['model', 'locale'], source: 'organisation' })
    const own = { keys: ['app'], source: 'prompt' }
    assert.deepEqual(await ledger.segments.declareForPrompt(promptId, { keys: ['app'] }), own)
    assert.deepEqual(await ledger.segments.ofPrompt(promptId), own)
  })

  test('history entries can be recorded and read', async () => {
    const { ledger, promptId } = await admin()
    const entry = {
      action: 'pr_merged',
      user: { name: 'Ada Lovelace', email: 'ada@example.com' },
      commit_sha: 'a1'.repeat(20),
      pr_number: 42,
      pr_url: 'https://github.com/acme/prompts/pull/42',
      branch_name: 'main',
      created_at: '2026-11-15T10:00:00.000Z',
    } as const
    const recorded = await ledger.history.record(promptId, entry)
    assert.deepEqual(recorded, { id: recorded.id, ...entry })
    assert.deepEqual((await ledger.history.list(promptId)).data, [recorded])
    const { id: key_id } = (await ledger.session.get()).key
    const states = { before_state: 'unavailable', after_state: 'unavailable' }
    const contents = { before: null, after: null, ...states, patch: null, hidden_characters: null, trial: null }
    assert.deepEqual(await ledger.history.get(promptId, recorded.id), {
      ...recorded,
      ...{ message: null, actor: null, path: null, too_large: false, ...contents, key_id },
    })
    const { name } = await ledger.prompts.get(promptId)
    assert.deepEqual(await ledger.history.find(recorded.id), { prompt: { id: promptId, name }, entry: recorded })
    assert.deepEqual(await ledger.history.live(promptId), {
      entry: recorded,
      ...{ path: null, content: null, content_state: 'unavailable', incomplete: false },
      ...{ live_source: 'merge', environment: null, share: 1, also_live: [], environments: [] },
    })
    await assert.rejects(ledger.history.live(promptId, { at: new Date('2026-11-15T09:59:59Z') }), NotFoundError)
  })

  test('deployments of prompts and repositories can be recorded and listed', async () => {
    const { ledger, promptId } = await admin()
    const body = { environment: 'production', commit_sha: 'a1'.repeat(20), state: 'success', share: 0.5 } as const
    const recorded = await ledger.deployments.record(promptId, body)
    assert.deepEqual([recorded.scope, recorded.share, recorded.entry_id], ['prompt', 0.5, null])
    assert.deepEqual((await ledger.deployments.list(promptId)).data, [recorded])
    const git = new GitRepository()
    const commit_sha = git.commit('Start', { 'prompts/p.md': 'Be kind.\n' })
    git.push()
    const { id } = await ledger.repositories.connect({ forge: 'github', url: git.remote, path: 'prompts/**' })
    const ofRepository = await ledger.deployments.recordOfRepository(id, { ...body, commit_sha })
    assert.deepEqual([ofRepository.scope, ofRepository.commit_state], ['repository', 'located'])
    assert.deepEqual((await ledger.deployments.listOfRepository(id)).data, [ofRepository])
  })

  test('signals can be recorded, listed, counted, exported and deleted', async () => {
    const { ledger, promptId } = await admin()
    const metadata = { trace: 'abc', nested: { list: [1, null, 'ü'] } }
    const signal = await ledger.signals.create(promptId, { value: 'positive', metadata })
    await ledger.signals.create(promptId, { value: 'negative' })
    const { data } = await ledger.signals.list(promptId, { value: 'positive', since: new Date(service.now) })
    const details = { version: null, subject: null, voter: null, comment: null, trace_id: null }
    assert.deepEqual(data, [{ ...signal, metadata, ...details, occurred_at: signal.created_at }])
    const day = { from: '2026-11-15T00:00:00Z', to: new Date('2026-11-16T00:00:00Z'), interval: 'day' } as const
    const total = { positive: 1, negative: 1 }
    assert.deepEqual(await ledger.signals.summary(promptId, day), {
      data: [{ start: '2026-11-15T00:00:00.000Z', ...total }],
      interval: 'day',
      total,
    })
    assert.equal(await ledger.signals.delete(promptId, signal.id), undefined)
    assert.equal((await ledger.signals.summary(promptId)).total.positive, 0)
    let remaining = 0
    for await (const _ of ledger.signals.export(promptId)) remaining++
    assert.equal(remaining, 1)
  })

  test('a search by comment or metadata is continued to its end when it is iterated', async () => {
    const { ledger, promptId } = await admin()
    for (const [i, model] of ['small', 'large', 'small', 'small'].entries()) {
      await ledger.signals.create(promptId, { value: 'positive', comment: `Comment ${i}`, metadata: { model } })
    }
    const page = await ledger.signals.list(promptId, { metadata: { model: 'small' }, limit: 2 })
    assert.deepEqual([page.data.length, page.pagination.total_count, page.search?.complete], [2, null, false])
    const found = await Array.fromAsync(ledger.signals.list(promptId, { metadata: { model: 'small' }, limit: 2 }))
    assert.deepEqual(
      found.map(({ comment }) => comment),
      ['Comment 3', 'Comment 2', 'Comment 0'],
    )
    const exported = await Array.fromAsync(
      ledger.signals.export(promptId, { metadata: { model: 'large' }, q: 'COMMENT' }),
    )
    assert.deepEqual(
      exported.map(({ comment }) => comment),
      ['Comment 1'],
    )
    assert.deepEqual(await ledger.signals.erase({ voter: 'unknown' }), { erased: 0 })
  })

  test('many signals are recorded in one request, with a result for each', async () => {
    const { ledger, promptId: prompt } = await admin()
    const results = await ledger.signals.createMany([
      { prompt, value: 'positive', subject: 'a' },
      { prompt, value: 'negative', subject: 'a' },
      { prompt: 'unknown', value: 'positive' },
    ])
    assert.deepEqual(
      results.map(({ signal, error }) => [signal?.value, error?.status]),
      [
        ['positive', undefined],
        ['negative', undefined],
        [undefined, 404],
      ],
    )
  })

  test('signals can be erased by their metadata, and the audit log says who did', async () => {
    const { ledger, promptId } = await admin()
    for (const user of ['u-1', 'u-2']) await ledger.signals.create(promptId, { value: 'positive', metadata: { user } })
    assert.deepEqual(await ledger.signals.previewErasure({ metadata: { user: 'u-1' } }), { matching: 1 })
    assert.deepEqual(await ledger.signals.erase({ metadata: { user: 'u-1' } }), { erased: 1 })
    const { data } = await ledger.signals.list(promptId)
    assert.deepEqual(
      data.map(({ metadata }) => metadata),
      [{ user: 'u-2' }],
    )
    const [entry, ...others] = (await ledger.audit.list({ action: 'signals.erased', since: new Date(service.now) }))
      .data
    assert.deepEqual([entry?.actor?.name, entry?.details, others], ['test', { erased: 1 }, []])
    const all = await Array.fromAsync(ledger.audit.list())
    assert.deepEqual(
      all.map(({ action }) => action),
      ['signals.erased', 'prompt.created', 'key.created'],
    )
  })

  test('the impact and the timeline show the effect of each change', async () => {
    const { ledger, tenant, promptId } = await admin()
    await tenant.recordEntry({ createdAt: service.now - 1_000 })
    await ledger.signals.create(promptId, { value: 'positive' })
    const { data } = await ledger.impact.list(promptId)
    assert.equal(data.length, 1)
    assert.deepEqual(data[0]?.after, { positive: 1, negative: 0, rate: 1 })
    assert.equal(data[0]?.verdict, 'too_little_data')
    await tenant.recordEntry({
      createdAt: service.now - 500,
      action: 'pr_opened',
      prNumber: 1,
      prUrl: 'https://example.com/1',
    })
    const { data: timeline } = await ledger.timeline.list(promptId, { action: ['deployed', 'pr_opened'] })
    assert.deepEqual(
      timeline.map(({ entry, impact }) => [entry.action, impact?.verdict]),
      [
        ['pr_opened', undefined],
        ['deployed', 'too_little_data'],
      ],
    )
    assert.equal((await ledger.timeline.list(promptId, { action: ['deployed'] })).pagination.total_count, 1)
    const { data: versions, complete } = await ledger.versions.list(promptId, { q: 'ada' })
    assert.deepEqual([versions.map(({ entry }) => entry.action), complete], [['deployed'], true])
    const blame = await ledger.versions.blame(promptId)
    assert.deepEqual([blame.entry, blame.state, blame.lines], [versions[0]?.entry, 'unavailable', []])
    const { data: matches, search } = await ledger.versions.search('kind')
    assert.deepEqual([matches, search], [[], { complete: true, examined: 0, skipped: 1, cursor: null }])
    const [opened, deployed] = timeline
    assert.deepEqual(await ledger.timeline.get(promptId, opened?.entry.id as number), opened)
    await ledger.segments.declare({ keys: ['model'] })
    assert.deepEqual(await ledger.timeline.get(promptId, deployed?.entry.id as number, { by: 'metadata.model' }), {
      ...deployed,
      segments: null,
    })
  })

  test('regressions and shifts can be listed, taken care of and dismissed', async () => {
    const { ledger, tenant, promptId } = await admin()
    const entry = await tenant.recordEntry()
    const { shifts, regressions } = service.store
    const figures = {
      rateBefore: 0.9,
      rateAfter: 0.8,
      difference: -0.1,
      explanation: 'Fewer votes are positive.',
      evidence: null,
      signalsBefore: 400,
      signalsAfter: 300,
      liveFrom: null,
    }
    await regressions.open(tenant.prompt, entry, { ...figures, interval: [-0.2, -0.05] }, service.now)
    const between: [number, number] = [service.now - 1_000, service.now]
    await shifts.replace(tenant.prompt, [
      {
        at: between[0],
        between,
        ...figures,
        entryId: entry.id,
        sharedWith: null,
        candidates: null,
        foundAt: service.now,
      },
      { at: between[1], between, ...figures, entryId: null, sharedWith: null, candidates: null, foundAt: service.now },
    ])
    const [open] = (await ledger.regressions.list({ state: 'open' })).data
    assert.deepEqual([open?.prompt.id, open?.change.id, open?.difference], [promptId, entry.id, -0.1])
    assert.deepEqual([open?.signals_before, open?.signals_after, open?.live_from], [400, 300, null])
    const [prompt] = (await ledger.prompts.list({ sort: 'regression' })).data
    assert.deepEqual(prompt?.regression, open)
    assert.deepEqual(await ledger.regressions.get(promptId, open?.id ?? 0), {
      ...open,
      certain_enough: false,
      told: [],
      steps: [],
      proposal: null,
    })
    const triaged = await ledger.regressions.update(promptId, open?.id ?? 0, { owner: 'kim@example.com' })
    assert.equal(triaged.owner, 'kim@example.com')
    await assert.rejects(ledger.regressions.propose(promptId, open?.id ?? 0, {}), { status: 409 })
    const dismissed = await ledger.regressions.dismiss(promptId, open?.id ?? 0, { note: 'Accepted.' })
    assert.deepEqual([dismissed.state, dismissed.dismissed_by, dismissed.note], ['dismissed', 'test', 'Accepted.'])
    assert.deepEqual((await ledger.regressions.listOfPrompt(promptId)).data, [dismissed])
    const [unexplained] = (await ledger.shifts.list({ state: 'open' })).data
    const shiftId = unexplained?.id ?? ''
    assert.equal((await ledger.shifts.update(promptId, shiftId, { acknowledged: true })).acknowledged_by, 'test')
    assert.equal((await ledger.shifts.dismiss(promptId, shiftId, { note: 'Expected.' })).state, 'dismissed')
    assert.equal((await ledger.shifts.get(promptId, shiftId)).steps[0]?.action, 'acknowledged')
    const [shift] = (await ledger.shifts.list({ cause: 'change' })).data
    assert.deepEqual([shift?.prompt.id, shift?.cause.change?.id], [promptId, entry.id])
    assert.deepEqual((await ledger.shifts.listOfPrompt(promptId, { cause: 'change' })).data, [shift])
    const { url, ...share } = await ledger.shares.create(promptId, { includes_signals: true })
    assert.match(url, /\/shared#plv_/)
    assert.deepEqual((await ledger.shares.list()).data, [share])
    await ledger.shares.revoke(promptId, share.id)
    assert.notEqual((await ledger.shares.listOfPrompt(promptId)).data[0]?.revoked_at, null)
  })

  test('the history is exported as objects and as CSV', async () => {
    const { ledger, tenant, promptId } = await admin()
    const { id } = await tenant.recordEntry({ createdAt: service.now - 1_000 })
    const { data } = await ledger.timeline.list(promptId)
    assert.deepEqual(await Array.fromAsync(ledger.timeline.export(promptId, { action: ['deployed'] })), data)
    const csv = (await Array.fromAsync(ledger.timeline.export(promptId, { format: 'csv' }))).join('')
    assert.match(csv.split('\r\n')[1] ?? '', new RegExp(`^${id},.*too_little_data`))
  })

  test('the organisation can be read and renamed', async () => {
    const { ledger, tenant } = await admin()
    const before = await ledger.organisation.get()
    assert.deepEqual([before.id, before.name, before.limits.signals_per_month], [tenant.organisation.id, 'Acme', 1_000])
    assert.deepEqual(await ledger.organisation.rename({ name: 'Acme Ltd' }), { ...before, name: 'Acme Ltd' })
    assert.equal((await ledger.organisation.get()).name, 'Acme Ltd')
  })

  test('the usage shows the plan, the limit and the signals of each month', async () => {
    const { ledger, promptId } = await admin()
    await ledger.signals.create(promptId, { value: 'positive' })
    const { months, ...usage } = await ledger.usage.get()
    const resets_at = '2026-12-01T00:00:00.000Z'
    assert.deepEqual(usage, { plan: 'free', limit: 1_000, used: 1, remaining: 999, resets_at })
    assert.deepEqual(months[0], { month: '2026-11', used: 1 })
  })

  test('keys can be created, rotated, listed and revoked', async () => {
    const { ledger } = await admin()
    const issued = await ledger.keys.create({ name: 'bot', role: 'ingest', expires_at: '2027-01-01T00:00:00.000Z' })
    assert.deepEqual([issued.name, issued.role, issued.expires_at], ['bot', 'ingest', '2027-01-01T00:00:00.000Z'])
    const rotated = await ledger.keys.rotate(issued.id, { overlap_hours: 0 })
    assert.notEqual(rotated.key, issued.key)
    assert.equal((await ledger.keys.rotate((await ledger.keys.create()).id)).name, 'unnamed')
    assert.equal(await ledger.keys.revoke(rotated.id), undefined)
    const { data } = await ledger.keys.list()
    const listed = data.find(({ id }) => id === rotated.id)
    assert.equal(listed?.hint, rotated.key.slice(-4))
    assert.equal(listed?.revoked_at, '2026-11-15T12:00:00.000Z')
    const revoked = new Promptledger({ apiKey: rotated.key, baseUrl: service.address })
    await assert.rejects(revoked.signals.create('pmt_x', { value: 'positive' }), UnauthorizedError)
  })

  test('a token that the client signs lets a page vote, change the vote and withdraw it', async () => {
    const { ledger, promptId } = await admin()
    const { key: signingKey } = await ledger.keys.create({ role: 'signing' })
    // The clock of the service stands still in tests.
    const token = await signToken(signingKey, { prompt: promptId, version: '8f3a1c5', subject: 'a' }, service.now)
    assert.deepEqual(await ledger.votes.create({ token, value: 'positive' }), { value: 'positive', comment: null })
    const changed = { value: 'negative', comment: 'Too long' } as const
    assert.deepEqual(await ledger.votes.create({ token, ...changed }), changed)
    const [signal] = (await ledger.signals.list(promptId)).data
    assert.deepEqual([signal?.value, signal?.comment, signal?.version], ['negative', 'Too long', '8f3a1c5'])
    assert.deepEqual(await ledger.votes.create({ token, value: null }), { value: null, comment: null })
    assert.deepEqual((await ledger.signals.list(promptId)).data, [])
  })

  test('repositories can be connected, changed, synced, rotated and disconnected', async () => {
    const { ledger } = await admin()
    const git = new GitRepository()
    git.commit('Start', { 'prompts/p.md': 'Be kind.\n' })
    git.push()
    const { webhook_secret, set_up, prompts, entries, warnings, ...connected } = await ledger.repositories.connect({
      forge: 'github',
      url: git.remote,
      path: 'prompts/**',
    })
    assert.deepEqual([connected.state, entries, prompts.map(({ path }) => path)], ['following', 1, ['prompts/p.md']])
    // A folder needs no webhook.
    assert.deepEqual(set_up, [])
    assert.deepEqual(warnings, [])
    const repository = { ...connected, prompt_count: 1, entry_count: 1 }
    assert.deepEqual(await ledger.repositories.get(connected.id), repository)
    assert.deepEqual((await ledger.repositories.list()).data, [repository])
    const [entry] = (await ledger.history.list(prompts[0]?.id ?? '')).data
    assert.equal((await ledger.history.get(prompts[0]?.id ?? '', entry?.id ?? 0)).after, 'Be kind.\n')

    const { headers, body } = deliveriesFrom('github', webhook_secret).ping()
    const url = new URL(connected.webhook_url).pathname
    await service.app.inject({ method: 'POST', url, headers, payload: body })
    await syncOnce(service.syncContext, connected.id)
    const [delivery] = (await ledger.repositories.deliveries(connected.id)).data
    assert.deepEqual([delivery?.event, delivery?.state], ['ping', 'ignored'])
    const again = await ledger.repositories.redeliver(connected.id, delivery?.id ?? 0)
    assert.equal(again.state, 'pending')

    const renamed = `${git.folder}/renamed.git`
    renameSync(git.remote, renamed)
    const updated = await ledger.repositories.update(connected.id, { url: renamed })
    assert.deepEqual([updated.url, updated.webhook_url, updated.warnings], [renamed, connected.webhook_url, []])
    const removal = ledger.repositories.update(connected.id, { token: 'any' })
    await assert.rejects(removal, { name: 'ValidationError', message: /^token needs a URL of the form https/ })

    assert.equal((await ledger.repositories.sync(connected.id)).id, connected.id)
    const rotated = await ledger.repositories.rotateSecret(connected.id)
    assert.equal(rotated.webhook_url, connected.webhook_url)
    assert.notEqual(rotated.webhook_secret, webhook_secret)
    const replaced = await ledger.repositories.rotateSecret(connected.id, { overlap_hours: 0 })
    assert.equal(replaced.old_secret_until, new Date(service.now).toISOString())
    assert.equal(await ledger.repositories.disconnect(connected.id), undefined)
    assert.equal((await ledger.repositories.get(connected.id)).state, 'disconnected')
  })

  test('sources can be managed', async () => {
    const { ledger } = await admin()
    const { secret, ...added } = await ledger.sources.add({ name: 'Chat', adapter: 'posthog', prompt: 'Support' })
    assert.match(String(secret), /^pls_/)
    assert.deepEqual((await ledger.sources.list()).data, [added])
    const updated = await ledger.sources.update(added.id, { prompt: null, positive_values: ['great'] })
    assert.deepEqual(await ledger.sources.get(added.id), updated)
    assert.deepEqual([updated.prompt, updated.positive_values], [null, ['great']])
    await ledger.sources.remove(added.id)
    await assert.rejects(ledger.sources.get(added.id), NotFoundError)
  })

  test('alerts can be managed and tested, and their deliveries listed and retried', async () => {
    const { ledger, tenant } = await admin()
    const receiver = await startReceiver()
    const { secret, ...added } = await ledger.alerts.add({ name: 'Us', channel: 'webhook', target: receiver.url })
    assert.match(secret ?? '', /^whsec_/)
    assert.deepEqual((await ledger.alerts.list()).data, [added])
    const updated = await ledger.alerts.update(added.id, { hold_minutes: 0, events: ['limit.near'] })
    assert.deepEqual(updated, { ...added, hold_minutes: 0, events: ['limit.near'] })
    assert.deepEqual(await ledger.alerts.get(added.id), updated)
    const { sent, status, response, error } = await ledger.alerts.test(added.id)
    assert.deepEqual([sent, status, response, error], [true, 200, 'ok', null])
    const rotated = await ledger.alerts.rotateSecret(added.id, { overlap_hours: 1 })
    assert.notEqual(rotated.secret, secret)
    const [alert] = await service.store.alerts.list(tenant.organisation.id)
    assert.ok(alert)
    const failed = await addDelivery(service, alert, { state: 'failed', finished_at: service.now })
    const [delivery] = (await ledger.alerts.deliveries()).data
    assert.equal(delivery?.id, failed)
    assert.deepEqual((await ledger.alerts.deliveriesOf(added.id)).data, [delivery])
    assert.equal((await ledger.alerts.retry(failed)).state, 'pending')
    assert.equal(await ledger.alerts.remove(added.id), undefined)
    await assert.rejects(ledger.alerts.get(added.id), NotFoundError)
  })

  test('texts are delivered, and a commit can be tried', async () => {
    const { ledger } = await admin()
    const git = new GitRepository()
    git.commit('Start', { 'prompts/p.md': 'Be kind.\n' })
    git.push()
    await ledger.repositories.connect({ forge: 'github', url: git.remote, path: 'prompts/**' })
    assert.deepEqual(await ledger.texts.settings(), { enabled: false, excluded: [] })
    assert.equal((await ledger.texts.updateSettings({ enabled: true })).enabled, true)
    await service.storeLiveTexts()
    const { prompts } = await ledger.texts.document({ prompts: 'prompts/*' })
    assert.deepEqual(
      prompts.map(({ text, version }) => [text, version]),
      [['Be kind.\n', git.head()]],
    )
    git.switchTo('work', 'main')
    const commit = git.commit('Try', { 'prompts/p.md': 'Be brief.\n' })
    git.push('work:work')
    const candidate = await ledger.trials.candidate({ commit: git.head() })
    assert.deepEqual([candidate.commit_sha, candidate.from_fork], [git.head(), false])
    const trial = await ledger.trials.start({ commit: candidate.commit_sha, share: 1 })
    assert.equal(trial.commit_sha, git.head(), commit)
    const chosen = await ledger.texts.get(prompts[0]?.id as string, { unit: 'user-1' })
    assert.deepEqual([chosen.text, chosen.trial], ['Be brief.\n', { id: trial.id, arm: 'candidate' }])
    await ledger.trials.recordExposures({
      source: 'test',
      exposures: [{ trial: trial.id, share: 1, control: 0, candidate: 1 }],
    })
    assert.equal((await ledger.trials.update(trial.id, { state: 'paused' })).state, 'paused')
    assert.equal((await ledger.trials.get(trial.id)).state, 'paused')
    assert.deepEqual(
      (await ledger.trials.list({ state: 'paused' })).data.map(({ id }) => id),
      [trial.id],
    )
  })

  test('a session authenticates by its cookie alone until it is deleted', async () => {
    const { tenant } = await admin()
    let cookie = ''
    // Handles cookies as a browser does.
    const browserFetch: typeof fetch = async (input, init) => {
      const headers = new Headers(init?.headers)
      headers.set('Sec-Fetch-Site', 'same-origin')
      if (cookie !== '') headers.set('Cookie', cookie)
      const response = await fetch(input, { ...init, headers })
      const set = response.headers.get('Set-Cookie')
      if (set !== null) cookie = /Max-Age=0/i.test(set) ? '' : (set.split(';')[0] ?? '')
      return response
    }
    const ledger = new Promptledger({ useSession: true, baseUrl: proxy.address, fetch: browserFetch })
    await assert.rejects(ledger.session.get(), UnauthorizedError)
    const session = await ledger.session.create(tenant.key)
    assert.deepEqual(session.organisation, { id: tenant.organisation.id, name: 'Acme', plan: 'free' })
    assert.deepEqual([session.key.role, session.key.hint], ['admin', tenant.key.slice(-4)])
    assert.deepEqual(await ledger.session.get(), session)
    await ledger.prompts.create({ name: 'By cookie' })
    assert.equal(await ledger.session.delete(), undefined)
    await assert.rejects(ledger.session.get(), UnauthorizedError)
  })

  test('people are invited, listed, changed and disabled, and sessions are listed and ended', async () => {
    const { ledger, tenant } = await admin()
    const { url, ...invitation } = await ledger.invitations.create({ role: 'viewer', email: 'Ada@Example.com' })
    assert.match(url, /\/sign-in#pli_\w{43}$/)
    assert.equal(invitation.email, 'ada@example.com')
    assert.deepEqual(
      (await ledger.invitations.list()).data.map(({ id }) => id),
      [invitation.id],
    )
    assert.equal(await ledger.invitations.revoke(invitation.id), undefined)
    const { id } = await service.store.people.add({
      organisationId: tenant.organisation.id,
      email: 'ada@example.com',
      name: 'Ada',
      subject: null,
      role: 'viewer',
      roleFrom: 'invitation',
      createdAt: service.now,
    })
    assert.equal((await ledger.people.update(id, { role: 'member' })).role, 'member')
    assert.notEqual((await ledger.people.update(id, { disabled: true })).disabled_at, null)
    assert.deepEqual(
      (await ledger.people.list()).data.map(({ email }) => email),
      ['ada@example.com'],
    )
    assert.equal(await ledger.people.delete(id), undefined)
    assert.deepEqual((await ledger.people.list()).data, [])
    assert.deepEqual((await ledger.people.checkSignIn()).problems, [])
    await ledger.session.create(tenant.key)
    const [session] = (await ledger.sessions.list({ everyone: true })).data
    assert.equal(await ledger.sessions.end(session?.id as string), undefined)
    assert.deepEqual((await ledger.sessions.list()).data, [])
  })

  test('the client covers every operation of the API', async () => {
    const document = JSON.parse(await readFile(new URL('../../dist/openapi.json', import.meta.url), 'utf8'))
    const ids: Record<string, string> = {
      prompt_id: 'pmt_\\w+',
      alert_id: 'alr_\\w+',
      message_id: 'msg_\\w+',
      trial_id: 'trl_\\w+',
      session_id: '[0-9a-f]{32}',
      source_id: 'src_\\w+',
      shift_id: 'shf_\\w+',
    }
    for (const [path, operations] of Object.entries<object>(document.paths)) {
      // Products post events by themselves.
      if (!path.startsWith('/api/v1/') || path.endsWith('/events')) continue
      // Other IDs are numeric, so signals/export does not match signals/{signal_id}.
      const pattern = new RegExp(`^${path.replace(/\{(\w+)\}/g, (_, name) => ids[name] ?? '\\d+')}$`)
      for (const method of Object.keys(operations)) {
        const [verb, calls] = [method.toUpperCase(), [...called].map((call) => call.split(' '))]
        const isCalled = calls.some(([method, url = '']) => method === verb && pattern.test(url))
        assert.ok(isCalled, `${verb} ${path}`)
      }
    }
  })
})
