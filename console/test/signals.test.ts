import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import { test } from 'node:test'
import { operator } from '../../server/src/domain/access/audit.ts'
import { removeOldSignals } from '../../server/src/domain/signals/retention.ts'
import type { NewSignal } from '../../server/src/domain/signals/signal.ts'
import { eventually } from '../../testing/eventually.ts'
import { queryRows } from '../../testing/rows.ts'
import type { Tenant } from '../../testing/service.ts'
import { inBatches, signalFor } from '../../testing/signals.ts'
import { inBrowser } from './support/browser.ts'
import { createChangedPrompt } from './support/changed-prompt.ts'
import { localDateTime } from './support/local-time.ts'

const hourMs = 3_600_000

inBrowser('The signals page', (suite) => {
  const { service } = suite

  test('signals are listed newest first with their metadata, in pages, filtered by value and time', async (t) => {
    const tenant = await service.tenant()
    await importHourly(tenant, 30)
    const at = `/prompts/${tenant.prompt.publicId}/signals`
    const visitor = await suite.visit(t, { at, key: tenant.key })
    const { page } = visitor
    async function shows(first: number, count: number, query: string) {
      await eventually(async () => {
        const summaries = await page.locator('.metadata summary').allTextContents()
        assert.match(summaries[0] ?? '', new RegExp(`^number ${first}model small$`))
        assert.equal(summaries.length, count)
      })
      assert.equal(visitor.path, at + query)
    }
    await shows(0, 25, '')
    await page.getByRole('button', { name: 'Next page' }).click()
    await shows(25, 5, '?page=2')
    await page.getByRole('button', { name: 'Negative' }).click()
    await shows(0, 10, '?value=negative')
    assert.deepEqual(new Set(await page.getByRole('rowheader').allTextContents()), new Set(['Negative']))
    await page.getByRole('button', { name: 'Positive' }).click()
    // Not at a whole minute, which the field shows without seconds.
    const from = localDateTime(service.now - 9.5 * hourMs + 1_000)
    await page.getByLabel('From').fill(from)
    await eventually(() => assert.match(visitor.path, /since=/))
    await page.getByLabel('Before').fill(localDateTime(service.now - 3.5 * hourMs))
    await eventually(() => assert.match(visitor.path, /until=/))
    // Positive signals 4, 5, 7 and 8 hours ago match, provided that the fields use the reader's time zone.
    await shows(4, 4, new URL(page.url()).search)
    await page.reload()
    await shows(4, 4, new URL(page.url()).search)
    assert.equal(await page.getByLabel('From').inputValue(), from)
    const { href } = new URL(page.url())
    await page.getByLabel('From').fill('2026-02-31')
    await page.keyboard.press('Enter')
    await page.getByText('Use the form YYYY-MM-DD hh:mm').waitFor()
    assert.equal(page.url(), href)
    await page.getByLabel('From').fill(from)
    await page.locator('.metadata summary').first().click()
    await page.getByText('"model": "small"').first().waitFor()
    await page.getByRole('button', { name: 'Clear filters' }).click()
    await shows(0, 25, '')
  })

  test('comments, versions, subjects and voters are shown as text, and can be searched', async (t) => {
    const tenant = await service.tenant()
    await importDetailed(tenant)
    const at = `/prompts/${tenant.prompt.publicId}/signals`
    const visitor = await suite.visit(t, { at, key: tenant.key })
    const { page } = visitor
    const rows = page.locator('tbody tr')
    await eventually(async () => assert.equal(await rows.count(), 4))
    const newest = await rows.first().innerText()
    for (const part of ['<b>Too slow</b>', '⟦U+202E RLO⟧', '8f3a1c5d20', 'answer-1', 'abcdefabcd']) {
      assert.ok(newest.includes(part), `${part}: ${newest}`)
    }
    assert.equal(await rows.locator('b').count(), 0)
    if (process.env.SCREENSHOT !== undefined) await page.screenshot({ path: process.env.SCREENSHOT, fullPage: true })
    await page.getByRole('button', { name: 'With comment' }).click()
    await eventually(async () => assert.equal(await rows.count(), 2))
    await page.getByLabel('Comment', { exact: true }).fill('TOO slow')
    await eventually(async () => assert.equal(await rows.count(), 1))
    assert.match(visitor.path, /\?comment=any&q=TOO(\+|%20)slow$/)
    await page.getByRole('button', { name: 'Clear filters' }).click()
    await page.getByLabel('Metadata', { exact: true }).fill('model')
    await page.getByLabel('Value of the metadata').fill('large')
    await page.getByRole('button', { name: 'Add the metadata filter' }).click()
    await eventually(async () => assert.equal(await rows.count(), 1))
    const exported = await page.getByRole('link', { name: 'Export these signals as CSV' }).getAttribute('href')
    assert.match(exported ?? '', /&metadata\.model=large$/)
    await page.getByRole('button', { name: 'Clear filters' }).click()
    await page.getByLabel('Version').fill('aaaaaaa')
    await eventually(async () => assert.equal(await rows.count(), 1))
    await page.getByLabel('Version').fill('bbbbbbb')
    await page.getByRole('heading', { name: 'No matching signals' }).waitFor()
  })

  test('the signals of one side of a change are named, can be left, and keep the filter in the export', async (t) => {
    const { scenario, prompt } = await createChangedPrompt(service)
    const entries = await scenario.history()
    const merged = entries.find(({ action }) => action === 'pr_merged')
    const at = `/prompts/${prompt.publicId}/signals`
    const visitor = await suite.visit(t, { at: `${at}?change=${merged?.id}&side=after`, key: scenario.tenant.key })
    const { page } = visitor
    const chip = page.locator('.filter-chip')
    const shows = (count: number) => page.getByText(`1–25 of ${count} signals`).waitFor()
    await shows(400)
    await eventually(async () => assert.match(await chip.innerText(), /^After #7 by Bob, \d+ \w+ \d{4}$/))
    const exported = await page.getByRole('link', { name: 'Export these signals as CSV' }).getAttribute('href')
    assert.match(exported ?? '', new RegExp(`&change=${merged?.id}&side=after$`))
    await page.getByRole('button', { name: 'Negative' }).click()
    await shows(80)
    await page.getByRole('button', { name: 'Show before' }).click()
    await shows(180)
    assert.match(await chip.innerText(), /^Before #7/)
    await page.getByRole('button', { name: 'Remove the filter on this change' }).click()
    await shows(410)
    assert.equal(visitor.path, `${at}?value=negative`)
    await page.goBack()
    await shows(180)
    await page.reload()
    await shows(180)
    await chip.getByRole('link').click()
    await eventually(() => assert.equal(visitor.path, `/prompts/${prompt.publicId}?entry=${merged?.id}`))
  })

  test('a change without signals says so, and one whose signals retention removed says how many still count', async (t) => {
    const tenant = await service.tenant()
    const entry = await tenant.recordEntry({ createdAt: service.now - 300 * 24 * hourMs })
    const at = `/prompts/${tenant.prompt.publicId}/signals?change=${entry.id}&side=after`
    const visitor = await suite.visit(t, { at, key: tenant.key })
    const { page } = visitor
    await page.getByRole('heading', { name: 'No signals after this change' }).waitFor()
    await page.getByRole('button', { name: 'Show before' }).click()
    await page.getByRole('heading', { name: 'No signals before this change' }).waitFor()
    const signals = [200, 199, 1].map((days) => signalFor(tenant, { createdAt: service.now - days * 24 * hourMs }))
    await service.store.signals.import(inBatches(signals))
    await removeOldSignals(service.store.signals, 90, service.now)
    await visitor.open(at)
    await page.getByText('3 signals count as after this change. Retention has removed 2 of them').waitFor()
    assert.equal(await page.locator('tbody tr').count(), 1)
  })

  test('typing replaces the step of the history, Enter and buttons add one, and Back undoes it', async (t) => {
    const tenant = await service.tenant()
    await importDetailed(tenant)
    const at = `/prompts/${tenant.prompt.publicId}/signals`
    const visitor = await suite.visit(t, { at, key: tenant.key })
    const { page } = visitor
    const rows = page.locator('tbody tr')
    const shows = (count: number, query: string) =>
      eventually(async () => assert.deepEqual([await rows.count(), visitor.path], [count, at + query]))
    await shows(4, '')
    const steps = () => page.evaluate(() => history.length)
    const before = await steps()
    const comment = page.getByLabel('Comment', { exact: true })
    await comment.fill('too')
    await shows(1, '?q=too')
    assert.equal(await steps(), before)
    await comment.press('Enter')
    await eventually(async () => assert.equal(await steps(), before + 1))
    await shows(1, '?q=too')
    await page.goBack()
    await shows(4, '')
    assert.equal(await comment.inputValue(), '')
    await page.goForward()
    await shows(1, '?q=too')
    await page.getByRole('button', { name: 'Clear filters' }).click()
    await shows(4, '')
    await comment.fill('EXACTLY')
    await comment.press('Enter')
    await shows(1, '?q=EXACTLY')
    await page.goBack()
    await shows(4, '')
  })

  test('members of the metadata are added and removed as filters, from the fields and from a signal', async (t) => {
    const tenant = await service.tenant('free', 'admin')
    await service.store.segments.setForOrganisation(tenant.organisation.id, ['model'], service.now, operator)
    await importHourly(tenant, 6)
    const at = `/prompts/${tenant.prompt.publicId}/signals`
    const visitor = await suite.visit(t, { at, key: tenant.key, viewport: { width: 375, height: 740 } })
    const { page } = visitor
    const rows = page.locator('tbody tr')
    await eventually(async () => assert.equal(await rows.count(), 6))
    await page.getByText('More filters').click()
    assert.deepEqual(
      await page
        .locator('datalist option')
        .evaluateAll((options) => options.map((option) => option.getAttribute('value'))),
      ['model'],
    )
    await page.getByLabel('Metadata', { exact: true }).fill('model')
    await page.getByLabel('Value of the metadata').fill('small')
    await page.keyboard.press('Enter')
    await eventually(() => assert.equal(visitor.path, `${at}?metadata.model=small`))
    await rows.nth(2).locator('summary').click()
    await rows.nth(2).getByRole('button', { name: 'Only signals with number: 2' }).click()
    await eventually(async () => assert.equal(await rows.count(), 1))
    assert.equal(visitor.path, `${at}?metadata.model=small&metadata.number=2`)
    const scrollWidth = await page.evaluate(() => document.documentElement.scrollWidth)
    assert.equal(scrollWidth, 375)
    await page.reload()
    await eventually(async () => assert.equal(await rows.count(), 1))
    await page.getByRole('button', { name: 'Remove the filter number: 2' }).click()
    await eventually(async () => assert.equal(await rows.count(), 6))
    await page.goBack()
    await eventually(async () => assert.equal(await rows.count(), 1))
  })

  test('a long search shows how far it got, and continues on request', async (t) => {
    const tenant = await service.tenant()
    const { organisation, prompt } = tenant
    const signals = Array.from(
      { length: 10_300 },
      (_, i): NewSignal => ({
        organisationId: organisation.id,
        promptId: prompt.id,
        value: 'positive',
        metadata: JSON.stringify({ user: i === 0 ? 'wanted' : `u${i}` }),
        createdAt: service.now - 20_000 + i,
      }),
    )
    await service.store.signals.import(inBatches(signals))
    const at = `/prompts/${prompt.publicId}/signals?metadata.user=wanted`
    const { page } = await suite.visit(t, { at, key: tenant.key })
    await page.getByText('No match so far.').waitFor()
    const rows = page.locator('tbody tr')
    const more = page.getByRole('button', { name: 'Search older signals' })
    // All at once: the element goes when the search is over, and waiting for the text of one that is gone takes forever.
    const progress = async () => (await page.getByRole('status').allInnerTexts()).at(-1)
    for (let clicks = 0; clicks < 50 && (await rows.count()) === 0; clicks++) {
      const before = await progress()
      await more.click()
      await eventually(async () => {
        const isOver = (await rows.count()) > 0
        assert.ok(isOver || (await progress()) !== before)
      })
    }
    assert.equal(await rows.count(), 1)
    assert.equal(await more.count(), 0)
  })

  test('a page number past the end leads back to the last page', async (t) => {
    const tenant = await service.tenant()
    await importHourly(tenant, 30)
    const at = `/prompts/${tenant.prompt.publicId}/signals`
    const visitor = await suite.visit(t, { at: `${at}?page=9`, key: tenant.key })
    await visitor.page.getByRole('button', { name: 'Go to the last page' }).click()
    await visitor.page.getByText('26–30 of 30 signals').waitFor()
    assert.equal(visitor.path, `${at}?page=2`)
  })

  test('the filtered signals can be exported as CSV and NDJSON', async (t) => {
    const tenant = await service.tenant()
    await importHourly(tenant, 9)
    const at = `/prompts/${tenant.prompt.publicId}/signals?value=negative`
    const { page } = await suite.visit(t, { at, key: tenant.key })
    const download = async (format: string) => {
      const started = page.waitForEvent('download')
      await page.getByRole('link', { name: `Export these signals as ${format}` }).click()
      return readFile(await (await started).path(), 'utf8')
    }
    const csv = (await download('CSV')).trim().split(/\r?\n/)
    assert.equal(csv.length, 1 + 3)
    assert.match(csv[0] ?? '', /value/)
    assert.ok(csv.slice(1).every((line) => line.includes('negative')))
    const lines = (await download('NDJSON')).trim().split('\n')
    assert.deepEqual(
      lines.map((line) => JSON.parse(line)).map(({ value, metadata }) => [value, metadata.number]),
      [6, 3, 0].map((number) => ['negative', number]),
    )
  })

  test('a reader key sees the signals and no way to delete one', async (t) => {
    const tenant = await service.tenant()
    await importHourly(tenant, 3)
    const key = await service.key(tenant.organisation, 'reader')
    const { page } = await suite.visit(t, { at: `/prompts/${tenant.prompt.publicId}/signals`, key })
    await eventually(async () => assert.equal(await page.locator('tbody tr').count(), 3))
    assert.equal(await page.getByRole('button', { name: 'Delete signal' }).count(), 0)
    assert.equal(await page.getByRole('columnheader', { name: 'Actions' }).count(), 0)
  })

  test('a signal is deleted only after confirmation, and no longer counts in the results', async (t) => {
    const tenant = await service.tenant()
    await importHourly(tenant, 3)
    const { page } = await suite.visit(t, { at: `/prompts/${tenant.prompt.publicId}/signals`, key: tenant.key })
    const rows = page.locator('tbody tr')
    const deleteNewest = rows.first().getByRole('button', { name: 'Delete signal' })
    await deleteNewest.click()
    const dialog = page.getByRole('dialog', { name: 'Delete this signal?' })
    await dialog.getByText('Negative').waitFor()
    await dialog.getByRole('button', { name: 'Cancel' }).click()
    await dialog.waitFor({ state: 'detached' })
    assert.equal(await rows.count(), 3)
    await deleteNewest.click()
    await dialog.getByRole('button', { name: 'Delete signal' }).click()
    const status = page.getByRole('status').filter({ hasText: /^Signal \d+ was deleted\.$/ })
    await status.waitFor()
    await eventually(async () => assert.equal(await rows.count(), 2))
    assert.deepEqual(await page.getByRole('rowheader').allTextContents(), ['Positive', 'Positive'])
    const { data } = await (await suite.request(tenant.key, `/prompts/${tenant.prompt.publicId}`)).json()
    assert.deepEqual([data.signals.positive, data.signals.negative], [2, 0])
  })

  test('a prompt without signals leads to a request that records one', async (t) => {
    const tenant = await service.tenant()
    const { page } = await suite.visit(t, { at: `/prompts/${tenant.prompt.publicId}/signals`, key: tenant.key })
    await page.getByRole('heading', { name: 'No signals yet' }).waitFor()
    await page.getByRole('button', { name: 'Send signals' }).click()
    const command = await page.getByRole('dialog').locator('pre').innerText()
    const url = command.match(/http:[^"]+/)?.[0] as string
    const response = await fetch(url, {
      method: 'POST',
      headers: { authorization: `Bearer ${tenant.key}`, 'content-type': 'application/json' },
      body: command.match(/'(\{.*\})'/)?.[1] as string,
    })
    assert.equal(response.status, 201)
  })
})

async function importDetailed({ service, organisation, prompt }: Tenant): Promise<void> {
  const none = { version: null, subject: null, voter: null, comment: null, occurredAt: null, traceId: null }
  const full = {
    version: '8f3a1c5d20'.repeat(4),
    subject: 'answer-1',
    voter: 'abcdef'.repeat(10),
    comment: '<b>Too slow</b> \u202e',
    occurredAt: null,
    traceId: 'ab'.repeat(16),
  }
  const details = [
    full,
    { ...none, comment: 'Exactly what I needed, thank you' },
    { ...none, version: 'aaaaaaa' },
    none,
  ]
  const signals = details.map(
    (details, i): NewSignal => ({
      organisationId: organisation.id,
      promptId: prompt.id,
      value: i % 2 === 0 ? 'negative' : 'positive',
      metadata: JSON.stringify({ model: i === 3 ? 'large' : 'small' }),
      createdAt: service.now - i * hourMs,
      details,
    }),
  )
  await service.store.signals.import(inBatches(signals))
  const withSubject = `update signals set subject = '${full.subject}' where version = '${full.version}'`
  await queryRows(service.url, withSubject)
}

/** Imports signals an hour apart, numbered from the newest. Every third is negative. */
async function importHourly({ service, organisation, prompt }: Tenant, count: number): Promise<void> {
  const signals = Array.from(
    { length: count },
    (_, i): NewSignal => ({
      organisationId: organisation.id,
      promptId: prompt.id,
      value: i % 3 === 0 ? 'negative' : 'positive',
      metadata: JSON.stringify({ number: i, model: 'small' }),
      createdAt: service.now - i * hourMs,
    }),
  )
  await service.store.signals.import(inBatches(signals.reverse()))
}
