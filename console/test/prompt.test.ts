import assert from 'node:assert/strict'
import { before, test } from 'node:test'
import type { Page } from 'playwright-core'
import { deploy } from '../../testing/deployments.ts'
import { eventually } from '../../testing/eventually.ts'
import { inBrowser } from './support/browser.ts'
import { createChangedPrompt, dayMs, importSignals, titles } from './support/changed-prompt.ts'
import { localDate } from './support/local-time.ts'
import type { Visitor } from './support/visitor.ts'

inBrowser('The prompt page', (suite) => {
  const { service } = suite
  let key: string
  let path: string
  before(async () => {
    const { scenario, prompt } = await createChangedPrompt(service)
    key = scenario.tenant.key
    path = `/prompts/${prompt.publicId}`
  })

  test('the chart marks every change that went live, and the timeline lists the whole history', async (t) => {
    const { page } = await suite.visit(t, { at: path, key })
    await page.getByRole('heading', { name: 'prompts/p.md' }).waitFor()
    await eventually(async () => assert.deepEqual(await entryTitles(page), titles))
    const description = await page.getByRole('figure').getAttribute('aria-label')
    assert.match(
      description ?? '',
      /^1,100 signals since .*, 63% positive\. 3 changes\. Worse since .*\. Better since /,
    )
    const markers = page.locator('.chart-marker')
    assert.deepEqual(await markers.evaluateAll((groups) => groups.map((group) => group.textContent?.split('\n')[0])), [
      'Sell something',
      'Answer in three sentences',
      'Start with a helper',
    ])
    // The changes were 20, 60 and 90 days ago, so the markers are 40 and 30 days apart.
    const positions = await markers
      .locator('circle')
      .evaluateAll((dots) => dots.map((dot) => Number(dot.getAttribute('cx'))))
    const [sold, shortened, started] = positions as [number, number, number]
    assert.ok(Math.abs((sold - shortened) / (sold - started) - 40 / 70) < 0.01, `markers at ${positions}`)
    const parts = ['.chart-line', '.chart-band', '.chart-bar', '.chart-average.better', '.chart-average.worse']
    for (const part of parts) assert.notEqual(await page.locator(part).count(), 0, part)
    const merged = page.getByRole('listitem').filter({ hasText: 'Answer in three sentences' })
    const text = await merged.innerText()
    for (const part of ['Better', 'Bob', 'main', '#7', 'Merged']) assert.ok(text.includes(part), `${part}: ${text}`)
    const links = await merged.getByRole('link').evaluateAll((nodes) => nodes.map((node) => node.getAttribute('href')))
    assert.match(links[0] ?? '', /^https:\/\/.*\/pull\/7$/)
    assert.match(links[1] ?? '', /^https:\/\/.*\/commit\/[0-9a-f]{40}$/)
  })

  test('the page says which version is live, and an entry when it was live, by a deployment or its merge', async (t) => {
    const { scenario, prompt } = await createChangedPrompt(service)
    const at = `/prompts/${prompt.publicId}`
    const live = await suite.visit(t, { at, key: scenario.tenant.key })
    await live.page.getByText(/^Live: [0-9a-f]{7}, by its merge$/).waitFor()
    const { data } = await scenario.get(`/prompts/${prompt.publicId}/timeline?action=deployed,pr_merged`)
    const [newest, earlier] = (data as { entry: { commit_sha: string } }[]).map(({ entry }) => entry.commit_sha)
    const daysAgo = (days: number) => new Date(service.now - days * dayMs).toISOString()
    await deploy(scenario, earlier as string, daysAgo(10))
    await deploy(scenario, newest as string, daysAgo(5), { share: 0.1 })
    const { page } = await suite.visit(t, { at, key: scenario.tenant.key })
    const [stable, canary] = [earlier, newest].map((sha) => sha?.slice(0, 7))
    await page
      .getByText(
        `Live: ${stable}, deployed to production (90% of traffic); also ${canary}, deployed to production (10% of traffic)`,
      )
      .waitFor()
    await page.getByRole('button', { name: 'Answer in three sentences' }).click()
    const times = page.getByRole('list', { name: 'When it was live' }).getByRole('listitem')
    await eventually(async () => assert.equal(await times.count(), 3))
    const texts = await times.allInnerTexts()
    assert.match(texts[0] ?? '', /^Live from .* until .*, by its merge$/)
    assert.match(texts[1] ?? '', /^Live from .* until .*, deployed to production$/)
    assert.match(texts[2] ?? '', /^Live from [^,]*(, [^,]*)*, deployed to production \(90% of traffic\)$/)
  })

  test('an entry opens to its diff by word and the signals before and after it', async (t) => {
    const visitor = await suite.visit(t, { at: path, key })
    const { page } = visitor
    await page.getByRole('button', { name: 'Answer in three sentences' }).click()
    const merged = page.getByRole('listitem').filter({ hasText: 'Answer in three sentences' })
    await merged.locator('.diff').waitFor()
    assert.deepEqual(await merged.locator('.diff-line').evaluateAll((lines) => lines.map((line) => line.className)), [
      'diff-line same',
      'diff-line removed',
      'diff-line added',
      'diff-line same',
    ])
    assert.equal(
      await merged.locator('.diff-line.removed .diff-text').textContent(),
      'Removed: Answer every question at length.',
    )
    assert.equal((await merged.locator('del').allTextContents()).join(' '), 'at length')
    assert.equal((await merged.locator('ins').allTextContents()).join(' '), 'in three sentences')
    assert.match(await merged.innerText(), /They asked for it\./)
    const rows = await merged.getByRole('table').getByRole('row').allTextContents()
    assert.deepEqual(rows.slice(1), ['Before22018055%', 'After3208080%'])
    await merged
      .getByText('80% of 400 votes are positive after this change, 55% of 400 votes before it. A rise of this size')
      .waitFor()
    await merged.getByText('Difference: +25 percentage points (95% confidence range: +').waitFor()

    await page.getByRole('button', { name: 'Sell something' }).click()
    await page.getByText('Always offer our newest plan.').waitFor()
    assert.equal(await page.locator('.diff').count(), 1, 'one entry is open at a time')
    await page.getByRole('button', { name: 'Sell something' }).click()
    await eventually(async () => assert.equal(await page.locator('.diff').count(), 0))
    assert.equal(visitor.path, path)
  })

  test('a difference that the change does not explain is called unexplained, with the reason', async (t) => {
    const tenant = await service.tenant()
    const { prompt } = tenant
    await tenant.recordEntry({ createdAt: service.now - 40 * dayMs, commitSha: 'a1'.repeat(20) })
    await tenant.recordEntry({ createdAt: service.now - 10 * dayMs, commitSha: 'b2'.repeat(20) })
    // A different audience comes every five days, and stays for five.
    for (let day = 39; day > 0; day--) {
      const positive = Math.floor(day / 5) % 2 === 0 && day > 5 ? 25 : 45
      await importSignals(service, prompt, [day, day - 0.5], { positive, negative: 50 - positive })
    }
    const { page } = await suite.visit(t, { at: `/prompts/${prompt.publicId}`, key: tenant.key })
    const newest = page.getByRole('listitem').filter({ hasText: 'Unexplained' })
    await newest.getByRole('button').first().click()
    await newest.getByText(/positive after this change, .* before it, but .* without any change/).waitFor()
  })

  test('pointing at a change highlights it in both the chart and the timeline', async (t) => {
    const { page } = await suite.visit(t, { at: path, key })
    const marker = page.locator('.chart-marker', { hasText: 'Answer in three sentences' })
    const item = page.getByRole('listitem').filter({ hasText: 'Answer in three sentences' })
    const highlighted = page.locator('[data-highlighted="true"]')
    async function isHighlightedInBoth() {
      await page.locator('.chart-marker[data-highlighted="true"]', { hasText: 'Answer in three sentences' }).waitFor()
      await page.locator('li[data-highlighted="true"]', { hasText: 'Answer in three sentences' }).waitFor()
      // The third is the average while this version was live.
      assert.equal(await highlighted.count(), 3)
    }
    await item.hover()
    await isHighlightedInBoth()
    await page.getByRole('heading', { name: 'History', exact: true }).hover()
    await eventually(async () => assert.equal(await highlighted.count(), 0))
    await marker.locator('circle').hover()
    await isHighlightedInBoth()
    await page.locator('.chart-tooltip').waitFor()
    await marker.locator('circle').click()
    await item.locator('.diff').waitFor()
    await page.getByRole('heading', { name: 'prompts/p.md' }).hover()
    await eventually(async () => assert.equal(await page.locator('.chart-tooltip').count(), 0))
  })

  test('the chart and the timeline can be filtered by action and by time', async (t) => {
    const visitor = await suite.visit(t, { at: path, key })
    const { page } = visitor
    const click = (name: string) => page.getByRole('button', { name, exact: true }).click()
    async function shows(expected: string[], query: string, markers: number) {
      await eventually(async () => assert.deepEqual(await entryTitles(page), expected))
      await eventually(async () => assert.equal(await page.locator('.chart-marker').count(), markers))
      assert.equal(visitor.path, path + query)
    }
    const [sold, shortened, opened, started] = titles as [string, string, string, string]
    await click('Merged')
    await shows([shortened], '?action=pr_merged', 1)
    await click('Opened')
    await shows([shortened, opened], '?action=pr_merged%2Cpr_opened', 1)
    await click('Merged')
    await shows([opened], '?action=pr_opened', 0)
    await click('30 days')
    await page.getByRole('heading', { name: 'No matching entries' }).waitFor()
    await click('Opened')
    await shows([sold], '?range=month', 1)
    await click('90 days')
    await shows([sold, shortened, opened], '?range=quarter', 2)
    const [from, to] = [localDate(service.now - 95 * dayMs), localDate(service.now - 30 * dayMs)]
    await page.getByLabel('From').fill(from)
    await shows([sold, shortened, opened, started], `?from=${from}`, 3)
    await page.getByLabel('To', { exact: true }).fill(to)
    await shows([shortened, opened, started], `?from=${from}&to=${to}`, 2)
  })

  test('the URL contains the whole view, so that it can be shared', async (t) => {
    const first = await suite.visit(t, { at: path, key })
    await first.page.getByRole('button', { name: '90 days' }).click()
    await first.page.getByRole('button', { name: 'Merged', exact: true }).click()
    await first.page.getByRole('button', { name: 'Answer in three sentences' }).click()
    const view = await readView(first)
    assert.match(view, /90 days, Merged/)
    assert.match(view, /They asked for it\./)
    await first.page.reload()
    assert.equal(await readView(first), view)
    const second = await suite.visit(t, { at: first.path, key })
    assert.equal(await readView(second), view)
    await second.page.getByRole('link', { name: 'Signals' }).click()
    await second.page.getByRole('heading', { name: 'Signals' }).waitFor()
    await second.page.goBack()
    assert.equal(await readView(second), view)
  })

  test('a long history loads page by page, and a URL finds an entry on an older page', async (t) => {
    const tenant = await service.tenant()
    const entries = []
    for (let i = 0; i < 60; i++) {
      entries.push(await tenant.recordEntry({ createdAt: service.now - (60 - i) * dayMs, branchName: `branch-${i}` }))
    }
    const at = `/prompts/${tenant.prompt.publicId}`
    const visitor = await suite.visit(t, { at, key: tenant.key })
    const items = visitor.page.locator('.timeline-item')
    await eventually(async () => assert.equal(await items.count(), 25))
    await visitor.page.getByRole('button', { name: 'Show older entries' }).click()
    await eventually(async () => assert.equal(await items.count(), 50))
    await visitor.open(`${at}?entry=${entries[0]?.id}`)
    const oldest = items.filter({ hasText: 'branch-0' })
    await oldest.getByText('The text is unavailable').waitFor()
    await eventually(async () => {
      const { y } = (await oldest.boundingBox()) ?? { y: Number.NaN }
      assert.ok(y >= 0 && y < 720, `the entry is out of view, at ${y}`)
    })
  })

  test("times are in the reader's time zone, with UTC on hover", async (t) => {
    const tenant = await service.tenant()
    await tenant.recordEntry({ createdAt: Date.parse('2026-07-01T01:30:05Z') })
    const { page } = await suite.visit(t, {
      at: `/prompts/${tenant.prompt.publicId}?from=2026-06-30&to=2026-06-30`,
      key: tenant.key,
      timezoneId: 'America/New_York',
      locale: 'en-US',
    })
    const time = page.getByRole('listitem').locator('time')
    await time.waitFor()
    // The browser puts a narrow no-break space before PM.
    assert.equal((await time.textContent())?.replaceAll(/\s/gu, ' '), 'Jun 30, 2026, 9:30 PM')
    assert.equal(await time.getAttribute('title'), '2026-07-01 01:30:05 UTC')
    assert.equal(await time.getAttribute('datetime'), '2026-07-01T01:30:05.000Z')
  })

  test('a prompt of another organisation is not found', async (t) => {
    const { key: otherKey } = await service.tenant()
    const visitor = await suite.visit(t, { at: '/usage', key: otherKey })
    for (const end of ['', '/timeline', '/signals/summary']) visitor.expectErrors(`404 GET /api/v1${path}${end}`)
    await visitor.open(path)
    await visitor.page.getByRole('heading', { name: 'Page not found' }).waitFor()
  })
})

function entryTitles(page: Page): Promise<string[]> {
  return page.locator('.timeline-title').allTextContents()
}

/** The text of the page and its active filters. */
async function readView({ page }: Visitor): Promise<string> {
  await page.locator('.diff').waitFor()
  await page.locator('.chart-marker').first().waitFor()
  const filters = await page.locator('[aria-pressed="true"]').allTextContents()
  return `${filters.join(', ')}\n${await page.locator('main').innerText()}`
}
