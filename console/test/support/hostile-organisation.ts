import assert from 'node:assert/strict'
import { symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { generateSecret, newApiKey } from '../../../server/src/domain/access/api-key.ts'
import { operator } from '../../../server/src/domain/access/audit.ts'
import { markHidden } from '../../../server/src/domain/hidden-text.ts'
import { newHistoryEntry } from '../../../server/src/domain/history/entry.ts'
import { newPrompt, type Prompt } from '../../../server/src/domain/prompt.ts'
import type { RegressionFigures } from '../../../server/src/domain/regressions/regression.ts'
import { connectRepository } from '../../../server/src/follow/connect.ts'
import { syncOnce, syncWithLease } from '../../../server/src/follow/worker.ts'
import { addAlert, addDelivery } from '../../../testing/alerts.ts'
import { GitRepository } from '../../../testing/git-repository.ts'
import { deliveriesFrom } from '../../../testing/payloads/deliveries.ts'
import { queryRows } from '../../../testing/rows.ts'
import { deployedEntry, type TestService } from '../../../testing/service.ts'
import { inBatches } from '../../../testing/signals.ts'

const image = '<img src=x onerror="window.__pwned=1">'
const script = '"><script>window.__pwned=1</script>'
const braces = "{{constructor.constructor('window.__pwned=1')()}}"
const rightToLeft = '\u202Egpj.exe'
const family = '👩‍👩‍👧‍👦'
const hostile = `${image}${script}${braces}${rightToLeft}${family}`
/** The same without a slash, for a file name. */
const hostileName = `${image}${braces}${rightToLeft}${family}`
const scriptUrl = 'javascript:window.__pwned=1'
const dayMs = 86_400_000
const regressionFigures: RegressionFigures = {
  rateBefore: 0.9,
  rateAfter: 0.8,
  difference: -0.1,
  interval: [-0.2, -0.05],
  explanation: '',
  evidence: 4,
  signalsBefore: 400,
  signalsAfter: 300,
  liveFrom: null,
}

function longWord(length: number): string {
  return 'w'.repeat(length)
}

/** A page, and the hostile text that it must show character by character, with hidden characters as marks. */
export interface HostilePage {
  at: string
  shows: string[]
  /** Selectors of what to click first. */
  clicks?: string[]
  /** Expected error responses. */
  errors?: string[]
}

/** An organisation where every name, message and URL is hostile. */
export async function createHostileOrganisation(service: TestService): Promise<{ key: string; pages: HostilePage[] }> {
  const { store, now } = service
  // Names with hidden characters are rejected today, but older databases can contain them.
  const organisation = await store.organisations.create({ name: hostile, plan: 'free', createdAt: now })
  const adminKey = (name: string, secret: string) =>
    newApiKey(secret, { organisationId: organisation.id, name, role: 'admin', createdAt: now, expiresAt: null })
  const key = generateSecret()
  await store.keys.create(adminKey(hostile, key), operator)
  await store.keys.create(adminKey(longWord(200), generateSecret()), operator)

  const git = new GitRepository()
  const path = `prompts/${hostileName}.md`
  const at = (daysAgo: number) => ({ at: new Date(now - daysAgo * dayMs).toISOString() })
  git.commit('Start', { [path]: `${hostile}\nStay.\n` }, at(3))
  git.commit(`${hostile}\n\n${longWord(1_000)}`, { [path]: `${hostile} more\nStay.\n${longWord(1_000)}\n` }, at(2))
  git.push()
  const url = join(git.folder, hostileName)
  symlinkSync(git.remote, url)
  const settings = { forge: 'github', path: 'prompts/**', similarity: 100, token: null, secret: null } as const
  const connection = { organisationId: organisation.id, url, ...settings }
  const { lease, secret } = await connectRepository(service.syncContext, connection, operator)
  await syncWithLease(service.syncContext, lease)
  const [fromGit] = (await store.facts.prompts(lease.repository)) as [Prompt]

  const fromApi = await store.prompts.create({ ...newPrompt(organisation.id, 'p', now), name: hostile }, operator)
  await store.prompts.create(newPrompt(organisation.id, longWord(1_000), now), operator)
  const entry = { ...deployedEntry(now - dayMs), user: { name: hostile, email: hostile }, branchName: hostile }
  const { id } = await store.history.record(fromApi, newHistoryEntry(entry), now, operator)
  const long = {
    ...deployedEntry(now - 2 * dayMs),
    user: { name: longWord(1_000), email: 'a' },
    branchName: longWord(1_000),
  }
  await store.history.record(fromApi, newHistoryEntry(long), now, operator)
  const pull = { ...entry, action: 'pr_opened', prNumber: 7 } as const
  const withHostileUrl = newHistoryEntry({ ...pull, prUrl: `https://example.com/${hostile}` })
  await store.history.record(fromApi, withHostileUrl, now, operator)
  // Validation rejects a script URL. Store it directly, because the console must not depend on that check.
  await store.history.record(fromApi, { ...pull, prUrl: scriptUrl, dedupeKey: 'hostile' }, now, operator)

  const metadata = JSON.stringify({
    [hostile]: hostile,
    [longWord(1_000)]: longWord(1_000),
    deep: { [hostile]: [hostile] },
  })
  const signal = { organisationId: organisation.id, promptId: fromApi.id, value: 'positive', metadata } as const
  await store.signals.import(inBatches([{ ...signal, createdAt: now - 1_000 }]))

  const { headers, body } = deliveriesFrom('github', secret).signed(
    image,
    Buffer.from(JSON.stringify({ zen: hostile })),
  )
  const hook = `/webhooks/${lease.repository.hookId}`
  const { statusCode } = await service.app.inject({ method: 'POST', url: hook, headers, payload: body })
  assert.equal(statusCode, 202)
  git.remove()
  await store.repositories.wake(lease.repository, now)
  await assert.rejects(syncOnce(service.syncContext, lease.repository.id))

  const change = { id, commitSha: entry.commitSha }
  await store.regressions.open(fromApi, change, { ...regressionFigures, explanation: hostile }, now)
  const [regression] = await store.regressions.ofPrompt(fromApi)
  assert.ok(regression)
  const alert = await addAlert(service, organisation.id, { name: hostile, channel: 'slack', prompts: image })
  await store.alerts.disable(alert, hostile, now)
  const told = { prompt: { publicId: fromApi.publicId, name: hostile }, regressionId: regression.id }
  const notice = `select notice_id from notice_regressions where organisation_id = ${organisation.id} and regression_id = ${regression.id}`
  const [{ notice_id: noticeId } = {}] = await queryRows(service.url, notice)
  await addDelivery(service, alert, {
    notice_id: Number(noticeId),
    event: 'regression.opened',
    message: JSON.stringify({ event: 'regression.opened', prompts: [told] }),
    state: 'failed',
    error: hostile,
    response: `${hostile}${longWord(1_000)}`,
    finished_at: now,
  })
  const regressionPath = `/prompts/${fromApi.publicId}/regressions/${regression.id}`

  const [invalidValue, unknownId] = [image, '"><b>'].map(encodeURIComponent)
  const pages: HostilePage[] = [
    { at: '/prompts', shows: [hostile, path, longWord(1_000)] },
    { at: `/prompts?q=${encodeURIComponent(`${hostile}!`)}`, shows: [`No prompt has “${hostile}!” in its name`] },
    { at: `/prompts?sort=${invalidValue}&page=${invalidValue}`, shows: [hostile] },
    {
      at: `/prompts/${fromGit.publicId}?range=${invalidValue}&action=${invalidValue}&from=${invalidValue}`,
      shows: [hostile, path],
    },
    {
      at: `/prompts/${fromGit.publicId}`,
      clicks: ['.timeline-title'],
      shows: [path, hostile, `${hostile} more`, longWord(1_000)],
    },
    {
      at: `/prompts/${fromGit.publicId}/text`,
      shows: [path, hostile, `${hostile} more`, longWord(1_000)],
    },
    {
      at: `/prompts/${fromGit.publicId}/text?version=${invalidValue}&line=${invalidValue}&q=${invalidValue}!`,
      clicks: ['.version-menu summary'],
      shows: [path, `${hostile} more`, 'No version matches this search.'],
    },
    {
      at: `/prompts/${fromGit.publicId}/compare`,
      shows: [path, hostile, `${hostile} more`, longWord(1_000)],
    },
    {
      at: `/prompts/${fromApi.publicId}/compare?a=${id}&b=${invalidValue}`,
      clicks: ['.version-picker > button'],
      shows: [hostile, 'not read from git'],
    },
    {
      at: `/prompts/${fromApi.publicId}?entry=${id}`,
      shows: [hostile, longWord(1_000), '#7', 'The text is unavailable'],
    },
    {
      at: `/prompts/${fromApi.publicId}/signals`,
      clicks: ['.metadata summary'],
      shows: [hostile.slice(0, 80), JSON.stringify(hostile)],
    },
    {
      at: `/prompts/${unknownId}`,
      shows: ['Page not found'],
      errors: ['', '/regressions'].map((end) => `404 GET /api/v1/prompts/${unknownId}${end}`),
    },
    { at: regressionPath, shows: [`The change by ${hostile} went live`, hostile] },
    { at: '/alerts', shows: [hostile, image] },
    { at: `/alerts/${alert.publicId}`, shows: [hostile, image] },
    { at: `/alerts/${alert.publicId}`, clicks: ['.button.danger'], shows: ['Remove this alert?', hostile] },
    { at: `/alerts/${unknownId}`, shows: ['Page not found'], errors: [`404 GET /api/v1/alerts/${unknownId}`] },
    { at: '/usage', shows: [hostile] },
    { at: '/audit', shows: [hostile] },
    { at: `/audit?action=${invalidValue}`, shows: ['Audit log', hostile] },
    { at: '/settings', shows: ['Plan and limits'] },
    { at: '/keys', shows: [hostile, longWord(200)] },
    { at: '/keys', clicks: ['[aria-label^="Rotate "]'], shows: [`Rotate “${hostile}”`] },
    { at: '/keys', clicks: ['[aria-label^="Revoke "]'], shows: [`Revoke “${hostile}”?`] },
    { at: '/repositories', shows: [url, 'Failing'] },
    { at: `/repositories/${lease.repository.id}`, shows: [url, image, 'The last sync failed'] },
    {
      at: `/repositories/${lease.repository.id}`,
      clicks: ['.button.danger'],
      shows: ['Disconnect this repository?', url],
    },
  ]
  return { key, pages: pages.map((page) => ({ ...page, shows: page.shows.map(markHidden) })) }
}
