import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import { test } from 'node:test'
import type { Download, Locator, Page } from 'playwright-core'
import { operator } from '../../server/src/domain/access/audit.ts'
import type { NewSignal } from '../../server/src/domain/signals/signal.ts'
import { connectRepository } from '../../server/src/follow/connect.ts'
import { syncOnce, syncWithLease } from '../../server/src/follow/worker.ts'
import { eventually } from '../../testing/eventually.ts'
import { GitRepository } from '../../testing/git-repository.ts'
import { type Delivery, deliveries } from '../../testing/payloads.ts'
import { inPortions } from '../../testing/recording.ts'
import type { Tenant } from '../../testing/service.ts'
import { inBrowser } from './browser.ts'

const hour = 3_600_000

inBrowser('The other pages', (surroundings) => {
  const { service } = surroundings

  /** Signals an hour apart, numbered from the newest, of which every third is negative. */
  async function recordSignals({ organisation, prompt }: Tenant, count: number): Promise<void> {
    const signals = Array.from(
      { length: count },
      (_, i): NewSignal => ({
        organisationId: organisation.id,
        promptId: prompt.id,
        value: i % 3 === 0 ? 'negative' : 'positive',
        metadata: JSON.stringify({ number: i, model: 'small' }),
        createdAt: service.now - i * hour,
      }),
    )
    await service.store.signals.import(inPortions(signals.reverse()))
  }

  /** What the service answers to a key. */
  async function ask(key: string, path: string): Promise<Response> {
    return fetch(`${surroundings.address}/api/v1${path}`, { headers: { authorization: `Bearer ${key}` } })
  }

  test('signals: newest first with their metadata, in pages, chosen by value and time', async (t) => {
    const tenant = await service.tenant()
    await recordSignals(tenant, 30)
    const at = `/prompts/${tenant.prompt.publicId}/signals`
    const visitor = await surroundings.visit(t, { at, key: tenant.key })
    const { page } = visitor
    async function shows(first: number, rest: number, query: string) {
      await eventually(async () => {
        const numbers = await page
          .locator('.metadata summary')
          .evaluateAll((found) => found.map((one) => one.textContent))
        assert.match(numbers[0] ?? '', new RegExp(`^number ${first}model small$`))
        assert.equal(numbers.length, rest)
      })
      assert.equal(visitor.place, at + query)
    }
    await shows(0, 25, '')
    await page.getByRole('button', { name: 'Next page' }).click()
    await shows(25, 5, '?page=2')
    await page.getByRole('button', { name: 'Negative' }).click()
    await shows(0, 10, '?value=negative')
    assert.deepEqual(new Set(await page.getByRole('rowheader').allTextContents()), new Set(['Negative']))
    await page.getByRole('button', { name: 'Positive' }).click()
    const from = localTime(service.now - 9.5 * hour)
    await page.getByLabel('From').fill(from)
    await eventually(() => assert.match(visitor.place, /since=/))
    await page.getByLabel('Before').fill(localTime(service.now - 3.5 * hour))
    await eventually(() => assert.match(visitor.place, /until=/))
    // 4, 5, 7 and 8 hours ago, if the field is of the reader's zone.
    await shows(4, 4, new URL(page.url()).search)
    await page.reload()
    await shows(4, 4, new URL(page.url()).search)
    assert.equal(await page.getByLabel('From').inputValue(), from)
    await page.locator('.metadata summary').first().click()
    await page.getByText('"model": "small"').first().waitFor()
    await page.getByRole('button', { name: 'Clear filters' }).click()
    await shows(0, 25, '')
  })

  test('signals: a file of the chosen ones, as CSV and as NDJSON', async (t) => {
    const tenant = await service.tenant()
    await recordSignals(tenant, 9)
    const at = `/prompts/${tenant.prompt.publicId}/signals?value=negative`
    const { page } = await surroundings.visit(t, { at, key: tenant.key })
    const fileOf = async (format: string) => {
      const arrived = page.waitForEvent('download')
      await page.getByRole('link', { name: format }).click()
      return textOf(await arrived)
    }
    const csv = (await fileOf('CSV')).trim().split(/\r?\n/)
    assert.equal(csv.length, 1 + 3)
    assert.match(csv[0] ?? '', /value/)
    assert.ok(csv.slice(1).every((line) => line.includes('negative')))
    const lines = (await fileOf('NDJSON')).trim().split('\n')
    assert.deepEqual(
      lines.map((line) => JSON.parse(line)).map(({ value, metadata }) => [value, metadata.number]),
      [6, 3, 0].map((number) => ['negative', number]),
    )
  })

  test('signals: one is taken back after a question, and is gone from every figure', async (t) => {
    const tenant = await service.tenant()
    await recordSignals(tenant, 3)
    const { page } = await surroundings.visit(t, { at: `/prompts/${tenant.prompt.publicId}/signals`, key: tenant.key })
    const rows = page.locator('tbody tr')
    const newest = rows.first().getByRole('button', { name: 'Take back' })
    await newest.click()
    const dialog = page.getByRole('dialog', { name: 'Take this signal back?' })
    await dialog.getByText('Negative').waitFor()
    await dialog.getByRole('button', { name: 'Cancel' }).click()
    await dialog.waitFor({ state: 'detached' })
    assert.equal(await rows.count(), 3)
    await newest.click()
    await dialog.getByRole('button', { name: 'Take back' }).click()
    await page
      .getByRole('status')
      .filter({ hasText: /^Signal \d+ was taken back\.$/ })
      .waitFor()
    await eventually(async () => assert.equal(await rows.count(), 2))
    assert.deepEqual(await page.getByRole('rowheader').allTextContents(), ['Positive', 'Positive'])
    const { data } = await (await ask(tenant.key, `/prompts/${tenant.prompt.publicId}`)).json()
    assert.deepEqual([data.signals.positive, data.signals.negative], [2, 0])
  })

  test('signals: where there are none, the page says how to send one, and that works', async (t) => {
    const tenant = await service.tenant()
    const { page } = await surroundings.visit(t, { at: `/prompts/${tenant.prompt.publicId}/signals`, key: tenant.key })
    await page.getByRole('heading', { name: 'No signals yet' }).waitFor()
    const command = await page.locator('pre').innerText()
    const url = command.match(/http:\S+/)?.[0] as string
    const response = await fetch(url, {
      method: 'POST',
      headers: { authorization: `Bearer ${tenant.key}`, 'content-type': 'application/json' },
      body: command.match(/'(\{.*\})'/)?.[1] as string,
    })
    assert.equal(response.status, 201)
  })

  test('usage: this month against the limit, when it starts anew, and twelve months', async (t) => {
    const tenant = await service.tenant('free')
    await tenant.fill(850)
    const { page } = await surroundings.visit(t, { at: '/usage', key: tenant.key })
    const meter = page.getByRole('meter', { name: 'Signals recorded this month' })
    await meter.waitFor()
    assert.equal(await meter.getAttribute('aria-valuetext'), '850 of 1,000 signals')
    const month = page.getByRole('region', { name: 'This month' })
    const text = await month.innerText()
    for (const part of ['Free plan', '85 %', '150', 'Little is left'])
      assert.ok(text.includes(part), `${part}: ${text}`)
    const now = new Date(service.now)
    const reset = new Date(Date.UTC(now.getUTCFullYear(), now.getUTCMonth() + 1)).toISOString()
    assert.equal(await month.locator('time').first().getAttribute('datetime'), reset)
    const rows = await page.getByRole('table').getByRole('row').allTextContents()
    assert.equal(rows.length, 1 + 12)
    const name = now.toLocaleDateString('en-GB', { month: 'long', year: 'numeric', timeZone: 'UTC' })
    assert.equal(rows.at(-1), `${name}850`)
    await tenant.fill(150)
    await page.reload()
    await page.getByText('The limit is reached: signals are refused').waitFor()
  })

  test('keys: a new one is shown once, can be copied, and works as what it was made for', async (t) => {
    const tenant = await service.tenant('free', 'admin')
    const visitor = await surroundings.visit(t, {
      at: '/keys',
      key: tenant.key,
      permissions: ['clipboard-read', 'clipboard-write'],
    })
    const { page } = visitor
    await page.getByRole('button', { name: 'New key' }).click()
    const form = page.getByRole('dialog', { name: 'New key' })
    await form.getByLabel('Name').fill('For the shop')
    await form.getByRole('radio', { name: 'ingest' }).check()
    await form.getByLabel('Last day').fill('2099-12-31')
    await form.getByRole('button', { name: 'Create the key' }).click()
    const made = page.getByRole('dialog', { name: 'The key is made' })
    const secret = await made.getByLabel('Key “For the shop”', { exact: true }).inputValue()
    assert.match(secret, /^plk_\w{49}$/)
    await made.getByRole('button', { name: 'Copy' }).click()
    await made.getByText('Copied').waitFor()
    assert.equal(await page.evaluate(() => navigator.clipboard.readText()), secret)
    await made.getByRole('button', { name: 'Done' }).click()
    await made.waitFor({ state: 'detached' })
    const row = rowOf(page, 'For the shop')
    await row.waitFor()
    const cells = await row.innerText()
    for (const part of [secret.slice(-4), 'ingest', 'Works', '31 Dec 2099', 'Never']) {
      assert.ok(cells.includes(part), `${part}: ${cells}`)
    }
    assert.ok(!(await page.content()).includes(secret))
    assert.equal((await ask(secret, '/prompts')).status, 403)
    assert.equal((await tenant.signal({ value: 'positive' }, { authorization: `Bearer ${secret}` })).statusCode, 201)
  })

  test('keys: one is rotated, with an overlap', async (t) => {
    const tenant = await service.tenant('free', 'admin')
    const old = await service.key(tenant.organisation, 'standard')
    const { page } = await surroundings.visit(t, { at: '/keys', key: tenant.key })
    await rowOf(page, 'standard').getByRole('button', { name: 'Rotate test' }).click()
    const form = page.getByRole('dialog', { name: 'Rotate “test”' })
    await form.getByText(old.slice(-4)).waitFor()
    await form.getByLabel('Overlap, in hours').fill('2')
    await form.getByRole('button', { name: 'Rotate the key' }).click()
    const made = page.getByRole('dialog', { name: 'The new key is made' })
    await made.getByText('within 2 hours').waitFor()
    const secret = await made.getByLabel('Key “test”', { exact: true }).inputValue()
    await made.getByRole('button', { name: 'Done' }).click()
    await eventually(async () => assert.equal(await rowOf(page, 'standard').count(), 2))
    await rowOf(page, old.slice(-4)).getByText('Expires soon').waitFor()
    for (const key of [old, secret]) assert.equal((await ask(key, '/prompts')).status, 200)
  })

  test('keys: one is revoked after a question that names it; the own one signs out', async (t) => {
    const tenant = await service.tenant('free', 'admin')
    const other = await service.key(tenant.organisation, 'ingest')
    const visitor = await surroundings.visit(t, { at: '/keys', key: tenant.key })
    const { page } = visitor
    const revoke = rowOf(page, 'ingest').getByRole('button', { name: 'Revoke test' })
    const dialog = page.getByRole('dialog', { name: 'Revoke “test”?' })
    await revoke.click()
    assert.ok((await dialog.innerText()).includes(`which ends with ${other.slice(-4)}`))
    await page.keyboard.press('Escape')
    await dialog.waitFor({ state: 'detached' })
    assert.equal((await tenant.signal({ value: 'positive' }, { authorization: `Bearer ${other}` })).statusCode, 201)
    await revoke.click()
    await dialog.getByRole('button', { name: 'Revoke the key' }).click()
    await eventually(async () => assert.equal(await rowOf(page, 'ingest').count(), 0))
    assert.equal((await tenant.signal({ value: 'positive' }, { authorization: `Bearer ${other}` })).statusCode, 401)
    await page.getByLabel('Show those that no longer work (1)').check()
    await rowOf(page, 'ingest').getByText('Revoked').waitFor()
    assert.equal(visitor.place, '/keys?all=1')

    visitor.expect('401 GET /api/v1/keys')
    await rowOf(page, 'Signed in with').getByRole('button', { name: 'Revoke test' }).click()
    await dialog.getByText('This is the key you are signed in with').waitFor()
    await dialog.getByRole('button', { name: 'Revoke and sign out' }).click()
    await page.getByLabel('API key').waitFor()
    assert.equal((await ask(tenant.key, '/prompts')).status, 401)
  })

  test('repositories: one is connected with the form, followed, looked at, and disconnected', async (t) => {
    const git = new GitRepository()
    t.after(() => git.remove())
    git.commit('Start', { 'prompts/a.md': 'A\n', 'prompts/b.md': 'B\n', 'README.md': 'x\n' })
    git.push()
    const organisation = await service.organisation()
    const key = await service.key(organisation, 'admin')
    const visitor = await surroundings.visit(t, { at: '/prompts', key })
    const { page } = visitor
    await page.getByRole('link', { name: 'Connect a repository' }).click()
    const form = page.getByRole('dialog', { name: 'Connect a repository' })

    visitor.expect('422 POST /api/v1/repositories')
    await form.getByLabel('Address').fill('ftp://example.com/prompts.git')
    await form.getByRole('button', { name: 'Connect' }).click()
    await form.getByRole('alert').filter({ hasText: 'url must be' }).waitFor()

    await form.getByLabel('Forge').selectOption('GitHub')
    await form.getByLabel('Address').fill(git.remote)
    await form.getByLabel('Files that are prompts').fill('prompts/*.md')
    await form.getByRole('button', { name: 'Connect' }).click()
    const made = page.getByRole('dialog', { name: 'The repository is connected' })
    await made.getByRole('status').filter({ hasText: 'The history is read2 prompts, 2 entries' }).waitFor()
    const hook = await made.getByLabel('Webhook address', { exact: true }).inputValue()
    assert.match(hook, /^https:\/\/ledger\.example\/webhooks\/\w{24}$/)
    const secret = await made.getByLabel('Webhook secret', { exact: true }).inputValue()
    await made.getByRole('button', { name: 'Done' }).click()
    await made.waitFor({ state: 'detached' })
    assert.equal(visitor.place, '/repositories')
    assert.ok(!(await page.content()).includes(secret))

    const path = new URL(hook).pathname
    const send = ({ headers, body }: Delivery) =>
      fetch(surroundings.address + path, {
        method: 'POST',
        headers: { ...headers, 'content-type': 'application/json' },
        body: new Uint8Array(body),
      })
    assert.equal((await send(deliveries('github', secret).ping())).status, 202)
    await rowOf(page, git.remote).getByText('Following').waitFor()
    await page.getByRole('link', { name: git.remote }).click()
    const delivery = page.getByRole('table', { name: 'Deliveries' }).locator('tbody tr')
    await delivery.getByText('ping').waitFor()
    assert.equal(await page.getByLabel('Webhook address', { exact: true }).inputValue(), hook)

    const [repository] = await service.store.repositories.list(organisation.id)
    const work = async () => {
      service.now += 1_000
      await syncOnce(service.follow, repository?.id as number)
    }
    git.commit('More', { 'prompts/c.md': 'C\n' })
    git.push()
    const sync = page.getByRole('button', { name: 'Sync now' })
    await sync.click()
    await page.getByRole('button', { name: 'Looking …' }).waitFor()
    await work()
    await sync.waitFor()
    await page.getByText('3 prompts, 3 entries').waitFor()
    await delivery.getByText('Ignored').waitFor()

    await page.getByRole('button', { name: 'Rotate secret' }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'Rotate the secret' }).click()
    const rotated = page.getByRole('dialog', { name: 'The new secret' })
    const newer = await rotated.getByLabel('Webhook secret', { exact: true }).inputValue()
    assert.notEqual(newer, secret)
    assert.equal((await send(deliveries('github', newer).ping())).status, 202)
    await rotated.getByRole('button', { name: 'Done' }).click()

    await page.getByRole('button', { name: 'Disconnect' }).click()
    const question = page.getByRole('dialog', { name: 'Disconnect this repository?' })
    await question.getByText(git.remote).waitFor()
    await question.getByRole('button', { name: 'Disconnect' }).click()
    await question.waitFor({ state: 'detached' })
    await page.getByText('Disconnected', { exact: true }).waitFor()
    assert.equal(await sync.count(), 0)
    assert.equal((await send(deliveries('github', newer).ping())).status, 404)
    await page.getByRole('link', { name: 'Prompts', exact: true }).click()
    await page.getByRole('link', { name: 'prompts/c.md' }).waitFor()
  })

  test('repositories: while a history is being read, the page sees it grow, and says where it failed', async (t) => {
    const git = new GitRepository()
    t.after(() => git.remove())
    git.commit('Start', { 'prompts/a.md': 'A\n' })
    git.push()
    const organisation = await service.organisation()
    const terms = { path: 'prompts/*.md', similarity: 100, token: null, secret: null }
    const { lease } = await connectRepository(
      service.follow,
      { organisationId: organisation.id, forge: 'gitea', url: git.remote, ...terms },
      operator,
    )
    const { page } = await surroundings.visit(t, { at: '/repositories', key: await service.key(organisation, 'admin') })
    const row = rowOf(page, git.remote)
    await row.getByText('Connecting').waitFor()
    await row.getByText('0 prompts, 0 entries').waitFor()
    await syncWithLease(service.follow, lease)
    await row.getByText('Following').waitFor()
    await row.getByText('1 prompt, 1 entry').waitFor()
    git.remove()
    await service.store.repositories.wake(lease.repository, service.now)
    await assert.rejects(syncOnce(service.follow, lease.repository.id))
    await page.reload()
    await row.getByText('Failing').waitFor()
    await page.getByRole('link', { name: git.remote }).click()
    await page.getByText('The last sync failed. It is tried again by itself.').waitFor()
  })
})

function rowOf(page: Page, text: string): Locator {
  return page.locator('tbody tr').filter({ hasText: text })
}

async function textOf(download: Download): Promise<string> {
  return readFile(await download.path(), 'utf8')
}

/** An instant in the zone of the tests' browser, as an input of the type datetime-local has it. */
function localTime(at: number): string {
  const format = new Intl.DateTimeFormat('sv-SE', {
    timeZone: 'Europe/Berlin',
    dateStyle: 'short',
    timeStyle: 'medium',
  })
  return format.format(at).replace(' ', 'T')
}
