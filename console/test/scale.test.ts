import assert from 'node:assert/strict'
import { before, type TestContext, test } from 'node:test'
import type { Page } from 'playwright-core'
import { eventually } from '../../testing/eventually.ts'
import { queryRows } from '../../testing/rows.ts'
import type { Tenant } from '../../testing/service.ts'
import { inBrowser } from './support/browser.ts'
import { createLongHistory } from './support/long-history.ts'

const promptCount = 10_000
const changeCount = 5_000
// On a machine that does nothing else, interactions take a tenth of this or less. The diagnostics say how long.
const boundMs = 2_000
const patience = { timeoutMs: 60_000 }

inBrowser('The console at scale', (suite) => {
  const { service } = suite
  let tenant: Tenant
  before(async () => {
    ;({ tenant } = await createLongHistory(service, changeCount))
    await fillPrompts(service.url, tenant.organisation.id, service.now)
  })

  const firstName = (page: Page) => page.getByRole('rowheader').first().getByRole('link').innerText()

  test(`${promptCount} prompts: the list searches, sorts and turns pages without waiting`, async (t) => {
    const visitor = await suite.visit(t, { at: '/usage', key: tenant.key, isLast: true })
    const { page } = visitor
    await observeInteractions(page)
    await visitor.open('/prompts')
    const pager = page.getByRole('navigation', { name: 'Pages of prompts' })
    await pager.getByText(/1–\d+ of 10,001 prompts/).waitFor({ timeout: patience.timeoutMs })
    // The prompt with the open regression comes first.
    assert.equal(await firstName(page), tenant.prompt.name)
    for (let i = 0; i < 5; i++) {
      const name = await firstName(page)
      await pager.getByRole('button', { name: 'Next page' }).click()
      await eventually(async () => assert.notEqual(await firstName(page), name), patience)
    }
    await page.getByRole('columnheader', { name: 'Prompt', exact: true }).getByRole('button').click()
    await eventually(async () => assert.equal(await firstName(page), 'prompt 00001'), patience)
    const search = page.getByRole('searchbox', { name: 'Search prompts' })
    await search.pressSequentially('09876')
    await eventually(async () => assert.equal(await firstName(page), 'prompt 09876'), patience)
    const size = await page.locator('*').count()
    assert.ok(size < 8_000, `${size} elements`)
    await reportInteractions(t, page)
  })

  test(`${changeCount} changes: markers are clustered, and selecting and zooming stays quick`, async (t) => {
    const visitor = await suite.visit(t, { at: '/usage', key: tenant.key, isLast: true })
    const { page } = visitor
    await observeInteractions(page)
    await visitor.open(`/prompts/${tenant.prompt.publicId}`)
    await page.locator('.chart-marker').first().waitFor({ timeout: patience.timeoutMs })
    const markers = await page.locator('.chart-marker').count()
    assert.ok(markers < 80, `${markers} markers`)
    for (const name of ['Zoom in', 'Zoom in', 'Earlier', 'Later', 'Zoom out']) {
      const path = visitor.path
      await page.getByRole('button', { name, exact: true }).click()
      await eventually(() => assert.notEqual(visitor.path, path), patience)
    }
    for (let i = 0; i < 3; i++) {
      const title = page.locator('.timeline-title').nth(i)
      // A click is lost if the changes of the range just zoomed to arrive during it.
      await eventually(
        async () => {
          await title.click()
          await title.and(page.locator('[aria-expanded=true]')).waitFor({ timeout: 2_000 })
        },
        { timeoutMs: 60_000 },
      )
      await page.locator('.change-panel').waitFor()
    }
    const size = await page.locator('*').count()
    assert.ok(size < 8_000, `${size} elements`)
    await reportInteractions(t, page)
  })

  test('the oldest change is reached by its link with few requests, and in the history of its time', async (t) => {
    const [oldest] = await queryRows(
      service.url,
      `select id, created_at from history_entries where prompt_id = ${tenant.prompt.id} order by created_at limit 1`,
    )
    const visitor = await suite.visit(t, { at: '/usage', key: tenant.key })
    const { page } = visitor
    const requests: string[] = []
    page.on('request', (request) => {
      const { pathname } = new URL(request.url())
      if (pathname.startsWith('/api/')) requests.push(pathname)
    })
    await visitor.open(`/prompts/${tenant.prompt.publicId}?entry=${oldest?.id}`)
    await page
      .locator('.change-panel')
      .getByText('change at 0', { exact: true })
      .first()
      .waitFor({ timeout: patience.timeoutMs })
    assert.ok(requests.length < 25, requests.join('\n'))
    const at = Number(oldest?.created_at)
    const range = `from=${new Date(at - 3_600_000).toISOString()}&to=${new Date(at + 7_200_000).toISOString()}`
    await visitor.open(`/prompts/${tenant.prompt.publicId}?${range}`)
    await page
      .locator('.timeline')
      .getByText('change at 0', { exact: true })
      .first()
      .waitFor({ timeout: patience.timeoutMs })
  })
})

/** Prompts with signals on each of the last days. Inserted past the service, which would take a minute. */
async function fillPrompts(url: string, organisationId: number, now: number): Promise<void> {
  const numbers = `with recursive numbers (n) as (select 1 union all select n + 1 from numbers where n < ${promptCount})`
  await queryRows(
    url,
    `insert into prompts (organisation_id, public_id, name, created_at, has_unique_name)
     ${numbers} select ${organisationId}, printf('pmt_%024d', n), printf('prompt %05d', n), ${now}, 1 from numbers`,
  )
  const hour = Math.floor(now / 3_600_000) * 3_600_000
  await queryRows(
    url,
    `insert into signal_hours (organisation_id, prompt_id, hour, positive, negative)
     select ${organisationId}, p.id, ${hour} - d.value * 86400000, 5 + p.id % 7, p.id % 5
     from prompts p, json_each('[1,3,8]') d where p.organisation_id = ${organisationId} and p.public_id like 'pmt_00000000%'`,
  )
}

/** Notes how long each interaction takes, from the event to the next frame. */
async function observeInteractions(page: Page): Promise<void> {
  await page.addInitScript(() => {
    const durations: number[] = []
    Object.assign(globalThis, { interactionDurations: durations })
    new PerformanceObserver((list) => {
      for (const entry of list.getEntries()) {
        if ((entry as PerformanceEventTiming).interactionId > 0) durations.push(entry.duration)
      }
    }).observe({ type: 'event', buffered: true, durationThreshold: 16 } as PerformanceObserverInit)
  })
}

async function reportInteractions(t: TestContext, page: Page): Promise<void> {
  const durations = await page.evaluate(
    () => (globalThis as unknown as { interactionDurations: number[] }).interactionDurations,
  )
  const sorted = durations.toSorted((a, b) => a - b)
  const p50 = sorted[Math.floor(sorted.length / 2)] ?? 0
  t.diagnostic(`interactions of 16 ms or more: ${sorted.length}, p50 ${p50} ms, longest ${sorted.at(-1) ?? 0} ms`)
  assert.ok(p50 < boundMs, `p50 ${p50} ms`)
}
