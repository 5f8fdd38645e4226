import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import { before, test } from 'node:test'
import type { Locator, Page } from 'playwright-core'
import type { HistoryEntry } from '../../server/src/domain/history/entry.ts'
import { deploy } from '../../testing/deployments.ts'
import { eventually } from '../../testing/eventually.ts'
import { terms } from '../src/ui/terms.ts'
import { checkAccessibility } from './support/accessibility.ts'
import { inBrowser } from './support/browser.ts'
import { createChangedPrompt, dayMs, importSignals, titles } from './support/changed-prompt.ts'
import { eventuallyHasFocus, tabTo } from './support/keyboard.ts'
import { localDate } from './support/local-time.ts'
import type { Visitor } from './support/visitor.ts'

// A pull request is one row, named after its merge.
const rows = titles.filter((title) => title !== 'Shorter answers')

inBrowser('The prompt page', (suite) => {
  const { service } = suite
  let key: string
  let path: string
  before(async () => {
    const { scenario, prompt } = await createChangedPrompt(service)
    key = scenario.tenant.key
    path = `/prompts/${prompt.publicId}`
  })

  test('the history has one row for a pull request and its merge, with its figures and verdict', async (t) => {
    const { page } = await suite.visit(t, { at: path, key })
    await page.getByRole('heading', { name: 'prompts/p.md' }).waitFor()
    await eventually(async () => assert.deepEqual(await entryTitles(page), rows))
    const merged = page.getByRole('listitem').filter({ hasText: 'Answer in three sentences' })
    const text = await merged.innerText()
    for (const part of ['55% → 80%', 'Better', 'Bob', 'main', '#7', 'Merged, opened'])
      assert.ok(text.includes(part), `${part}: ${text}`)
    const links = await merged.getByRole('link').evaluateAll((nodes) => nodes.map((node) => node.getAttribute('href')))
    assert.match(links[0] ?? '', /^https:\/\/.*\/pull\/7$/)
    assert.match(links[1] ?? '', /^https:\/\/.*\/commit\/[0-9a-f]{40}$/)
  })

  test('the page says which version is live, and an entry when it was live, by a deployment or its merge', async (t) => {
    const { scenario, prompt } = await createChangedPrompt(service)
    const at = `/prompts/${prompt.publicId}`
    const live = await suite.visit(t, { at, key: scenario.tenant.key })
    const card = live.page.getByRole('region', { name: 'Live Sell something' })
    await card.getByText('Always offer our newest plan.').waitFor()
    assert.equal(await card.getByRole('list', { name: 'Live versions by environment' }).count(), 0)
    const { data } = await scenario.get(`/prompts/${prompt.publicId}/timeline?action=deployed,pr_merged`)
    const [newest, earlier] = (data as { entry: { commit_sha: string } }[]).map(({ entry }) => entry.commit_sha)
    const daysAgo = (days: number) => new Date(service.now - days * dayMs).toISOString()
    await deploy(scenario, earlier as string, daysAgo(10))
    await deploy(scenario, newest as string, daysAgo(5), { share: 0.1 })
    const { page } = await suite.visit(t, { at, key: scenario.tenant.key })
    const versions = page.getByRole('region', { name: 'Live at the same time in production' }).locator('tbody tr')
    await eventually(async () =>
      assert.match((await versions.allInnerTexts()).join(), /^Answer in three sentences.*90%.*Sell something.*10%/s),
    )
    await page.getByRole('button', { name: 'Answer in three sentences' }).click()
    const times = page.getByRole('list', { name: 'When it was live' }).getByRole('listitem')
    await eventually(async () => assert.equal(await times.count(), 3))
    const texts = await times.allInnerTexts()
    assert.match(texts[0] ?? '', /^Live from .* until .*, by its merge$/)
    assert.match(texts[1] ?? '', /^Live from .* until .*, deployed to production$/)
    assert.match(texts[2] ?? '', /^Live from [^,]*(, [^,]*)*, deployed to production \(90% of traffic\)$/)
  })

  test('a selected change shows its diff by word, its figures and its comments beside the chart', async (t) => {
    const visitor = await suite.visit(t, { at: path, key })
    const { page } = visitor
    await page.getByRole('button', { name: 'Answer in three sentences' }).click()
    const panel = page.getByRole('complementary', { name: 'Selected change' })
    await panel.locator('.diff').waitFor()
    assert.deepEqual(await panel.locator('.diff-line').evaluateAll((lines) => lines.map((line) => line.className)), [
      'diff-line same',
      'diff-line removed',
      'diff-line added',
      'diff-line same',
    ])
    assert.equal(
      await panel.locator('.diff-line.removed .diff-text').textContent(),
      'Removed: Answer every question at length.',
    )
    assert.equal((await panel.locator('del').allTextContents()).join(' '), 'at length')
    assert.equal((await panel.locator('ins').allTextContents()).join(' '), 'in three sentences')
    await panel.getByText('They asked for it.').waitFor()
    await panel
      .getByText('80% of 400 votes are positive after this change, 55% of 400 votes before it. A rise of this size')
      .waitFor()
    await panel.getByText('Difference: +25 percentage points (95% confidence range: +').waitFor()
    await panel.getByRole('heading', { name: 'Newest negative comments' }).waitFor()
    await panel.getByText('No negative comments after this change.').waitFor()
    const isInView = (locator: Locator) =>
      locator.evaluate((element) => {
        const { top, bottom } = element.getBoundingClientRect()
        return top >= 0 && bottom <= window.innerHeight
      })
    assert.ok(await isInView(page.getByRole('figure')), 'the chart is in view')
    assert.ok(await isInView(panel.locator('.diff')), 'the diff is in view')
    assert.match(
      (await panel.getByRole('link', { name: 'Compare side by side' }).getAttribute('href')) ?? '',
      /^\/prompts\/pmt_\w+\/compare\?b=\d+$/,
    )

    await page.getByRole('button', { name: 'Sell something' }).click()
    await panel.getByText('Always offer our newest plan.').waitFor()
    assert.equal(await page.locator('.diff').count(), 1, 'one change is selected at a time')
    await panel.getByRole('button', { name: 'Close' }).click()
    await eventually(async () => assert.equal(await panel.count(), 0))
    assert.equal(visitor.path, path)
    await page.goBack()
    await panel.getByText('Always offer our newest plan.').waitFor()
    await page.goBack()
    await panel.getByText('They asked for it.').waitFor()
  })

  test('the counts before and after a change lead to exactly those signals', async (t) => {
    for (const [side, name, count] of [
      ['before', '220 of 400 signals', 400],
      ['after', '320 of 400 signals', 400],
    ] as const) {
      const visitor = await suite.visit(t, { at: path, key })
      await visitor.page.getByRole('button', { name: 'Answer in three sentences' }).click()
      await visitor.page.getByRole('link', { name }).click()
      await eventually(() => assert.match(visitor.path, new RegExp(`/signals\\?change=\\d+&side=${side}$`)))
      await visitor.page
        .getByText(new RegExp(`of ${count}\\b`))
        .first()
        .waitFor()
    }
  })

  test('Escape closes the panel, and the focus returns to the entry that opened it', async (t) => {
    const { page } = await suite.visit(t, { at: path, key })
    const button = page.getByRole('button', { name: 'Answer in three sentences' })
    await button.focus()
    await page.keyboard.press('Enter')
    const panel = page.getByRole('complementary', { name: 'Selected change' })
    await panel.locator('.diff').waitFor()
    await eventuallyHasFocus(panel)
    await page.keyboard.press('Tab')
    await page.keyboard.press('Escape')
    await eventually(async () => assert.equal(await panel.count(), 0))
    await eventuallyHasFocus(button)
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
    await page
      .locator('.change-panel')
      .getByText(/positive after this change, .* before it, but .* without any change/)
      .waitFor()
  })

  test('the history can be filtered by action, and with the chart by time', async (t) => {
    const visitor = await suite.visit(t, { at: path, key })
    const { page } = visitor
    const click = (name: string) => page.getByRole('button', { name, exact: true }).click()
    async function shows(expected: string[], query: string, markers: number) {
      await eventually(async () => assert.deepEqual(await entryTitles(page), expected))
      await eventually(async () => assert.equal(await page.locator('.chart-marker').count(), markers))
      assert.equal(visitor.path, path + query)
    }
    const [sold, shortened, started] = rows as [string, string, string]
    await click('Merged')
    await shows([shortened], '?action=pr_merged', 3)
    await click('Deployed')
    await shows([sold, shortened, started], '?action=pr_merged%2Cdeployed', 3)
    await click('Merged')
    await shows([sold, started], '?action=deployed', 3)
    await click('Deployed')
    await click('Open')
    await page.getByRole('heading', { name: 'No matching entries' }).waitFor()
    await click('Open')
    await click('30 days')
    await shows([sold], '?range=month', 1)
    await click('90 days')
    await shows([sold, shortened], '?range=quarter', 2)
    const [from, to] = [localDate(service.now - 95 * dayMs), localDate(service.now - 30 * dayMs)]
    await page.getByLabel('From').fill(from)
    await shows([sold, shortened, started], `?range=quarter&from=${from}`, 3)
    await page.getByLabel('To', { exact: true }).fill(to)
    await shows([shortened, started], `?range=quarter&from=${from}&to=${to}`, 2)
  })

  test('the URL contains the whole view, so that it can be shared', async (t) => {
    const first = await suite.visit(t, { at: path, key })
    await first.page.getByRole('button', { name: '90 days' }).click()
    await first.page.getByRole('button', { name: 'Merged', exact: true }).click()
    await first.settle()
    await first.page.getByRole('button', { name: 'Answer in three sentences' }).click()
    const view = await readView(first)
    assert.match(view, /90 days, Merged/)
    assert.match(view, /They asked for it\./)
    await first.page.reload()
    assert.equal(await readView(first), view)
    const second = await suite.visit(t, { at: first.path, key })
    assert.equal(await readView(second), view)
    await second.page.getByRole('link', { name: 'Signals', exact: true }).click()
    await second.page.getByRole('heading', { name: 'Signals' }).waitFor()
    await second.page.goBack()
    assert.equal(await readView(second), view)
  })

  test('a long history loads page by page, and a URL shows an entry on an older page with one request for it', async (t) => {
    const tenant = await service.tenant()
    const entries: HistoryEntry[] = []
    for (let i = 0; i < 60; i++) {
      entries.push(await tenant.recordEntry({ createdAt: service.now - (60 - i) * dayMs, branchName: `branch-${i}` }))
    }
    const at = `/prompts/${tenant.prompt.publicId}`
    const visitor = await suite.visit(t, { at, key: tenant.key })
    const items = visitor.page.locator('.timeline-item')
    await eventually(async () => assert.equal(await items.count(), 25))
    await visitor.page.getByRole('button', { name: 'Show older entries' }).click()
    await eventually(async () => assert.equal(await items.count(), 50))
    const requests: string[] = []
    visitor.page.on('request', (request) => requests.push(new URL(request.url()).pathname))
    await visitor.open(`${at}?entry=${entries[0]?.id}`)
    const panel = visitor.page.getByRole('complementary', { name: 'Selected change' })
    await panel.getByText('branch-0').waitFor()
    await panel.getByText('The text is unavailable').waitFor()
    const timeline = requests.filter((pathname) => pathname.endsWith('/timeline'))
    assert.ok(timeline.length <= 2, `the list was requested ${timeline.length} times`)
    assert.equal(requests.filter((pathname) => pathname.endsWith(`/timeline/${entries[0]?.id}`)).length, 1)
    await eventually(async () => {
      const { y } = (await panel.boundingBox()) ?? { y: Number.NaN }
      assert.ok(y >= 0 && y < 200, `the panel is out of view, at ${y}`)
    })
    visitor.expectErrors(`404 GET /api/v1${at}/timeline/999999`)
    await visitor.open(`${at}?entry=999999`)
    await panel.getByText('This entry is not part of the history.').waitFor()
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
    assert.equal((await time.textContent())?.replaceAll(/\s/gu, ' '), '30 Jun 2026, 21:30')
    assert.equal(await time.getAttribute('title'), '2026-07-01 01:30:05 UTC')
    assert.equal(await time.getAttribute('datetime'), '2026-07-01T01:30:05.000Z')
  })

  test('a verdict and its terms say what they mean, with the keyboard alone and in the words of the documentation', async (t) => {
    const { page } = await suite.visit(t, { at: path, key })
    const verdict = page.locator('.timeline').getByRole('button', { name: 'Worse' })
    await tabTo(page, verdict)
    await page.keyboard.press('Enter')
    const text = page.getByText(terms.worse)
    await text.waitFor()
    await checkAccessibility(page, 'an explained verdict')
    await page.keyboard.press('Escape')
    await text.waitFor({ state: 'hidden' })
    await eventuallyHasFocus(verdict)
    await verdict.click()
    await text.waitFor()
    await verdict.click()
    await text.waitFor({ state: 'hidden' })
    await page.getByRole('list', { name: 'Legend' }).getByRole('button', { name: 'its 95% confidence range' }).click()
    const range = page.getByText(terms.confidence_range)
    await range.waitFor()
    const { y = 0 } = (await range.boundingBox()) ?? {}
    assert.ok(y > 0 && y < 800, `the text is at ${y}`)
    const documentation = (await readFile(new URL('../../docs/impact.md', import.meta.url), 'utf8'))
      .replaceAll(/[`\s]+/g, ' ')
      .toLowerCase()
    for (const [name, meaning] of Object.entries(terms)) {
      const sentence = meaning.toLowerCase().replace(/\.$/, '')
      assert.ok(documentation.includes(sentence), `docs/impact.md does not say what ${name} means: ${meaning}`)
    }
  })

  test('a first version has nothing to compare with, however many votes it has', async (t) => {
    const tenant = await service.tenant()
    await tenant.recordEntry({ createdAt: service.now - 30 * dayMs })
    await importSignals(service, tenant.prompt, [29, 1], { positive: 60, negative: 40 })
    const visitor = await suite.visit(t, { at: `/prompts/${tenant.prompt.publicId}`, key: tenant.key })
    const { page } = visitor
    const verdict = page.getByRole('button', { name: 'First version, nothing to compare with' })
    await verdict.waitFor()
    await page.locator('.timeline-title').click()
    await page.locator('.change-panel').getByText('First version, nothing to compare with.').waitFor()
    await visitor.open('/prompts')
    await verdict.waitFor()
    assert.equal(await page.getByText('Not enough data yet').count(), 0)
  })

  test('entries older than the time shown are counted, and shown with the range of all times', async (t) => {
    const tenant = await service.tenant()
    await tenant.recordEntry({ createdAt: service.now - 500 * dayMs })
    // From noon on, so that they fall on one day at whatever time the test runs.
    const noon = 499 + ((service.now + dayMs / 2) % dayMs) / dayMs
    await importSignals(service, tenant.prompt, [noon, noon - 0.1], { positive: 2, negative: 1 })
    const visitor = await suite.visit(t, { at: `/prompts/${tenant.prompt.publicId}`, key: tenant.key })
    const { page } = visitor
    assert.equal(await page.locator('.timeline-item').count(), 0)
    await page.getByRole('button', { name: '1 older entry' }).click()
    await page.locator('.timeline-item').waitFor()
    await page.locator('.chart-marker').waitFor()
    assert.match(visitor.path, /\?range=all$/)
    assert.equal(await page.getByRole('button', { name: 'All', exact: true }).getAttribute('aria-pressed'), 'true')
    assert.equal(await page.getByRole('button', { name: /older entr/ }).count(), 0)
    const rates = page.locator('.timeline-rates')
    assert.equal(await rates.textContent(), '2 of 3', 'three votes are no percentage')
    const [most, noun] = await page.locator('.chart svg > text').allTextContents()
    assert.deepEqual([most, noun], ['3', 'votes'])
  })

  test('a subject takes two lines at most in the history', async (t) => {
    const { scenario, prompt } = await createChangedPrompt(service)
    scenario.git.commit('Be kind and precise. '.repeat(40), { 'prompts/p.md': 'Be kind.\n' })
    await scenario.push()
    const viewport = { width: 375, height: 667 }
    const { page } = await suite.visit(t, { at: `/prompts/${prompt.publicId}`, key: scenario.tenant.key, viewport })
    const title = page.locator('.timeline-title > span', { hasText: 'Be kind and precise.' })
    await title.waitFor()
    const { height = 0 } = (await title.boundingBox()) ?? {}
    const line = await title.evaluate((element) => Number.parseFloat(getComputedStyle(element).lineHeight))
    assert.ok(height <= 2 * line + 1, `${height} px for lines of ${line} px`)
  })

  test('the difference that a change makes is shown as it was known while votes came in', async (t) => {
    const visitor = await suite.visit(t, { at: path, key })
    const { page } = visitor
    await page.locator('.timeline-title', { hasText: 'Sell something' }).click()
    const panel = page.locator('.change-panel')
    await panel.getByText('Difference over time').click()
    const rows = panel.getByRole('table', { name: 'The difference over time' }).locator('tbody tr')
    await eventually(async () => assert.equal(await rows.count(), 8))
    const texts = await rows.allInnerTexts()
    const votes = texts.map((text) => Number(/(\d+) votes?/.exec(text)?.[1]))
    assert.deepEqual(
      votes,
      votes.toSorted((a, b) => a - b),
      'votes add up',
    )
    assert.equal(votes.at(-1), 300)
    assert.match(texts.at(-1) ?? '', /−30\s+Worse/)
    assert.equal(await panel.locator('.lift-point').count(), 8)
    await checkAccessibility(page, 'the difference over time')
  })

  test('a prompt of another organisation is not found', async (t) => {
    const { key: otherKey } = await service.tenant()
    const visitor = await suite.visit(t, { at: '/usage', key: otherKey })
    for (const end of ['', '/regressions']) visitor.expectErrors(`404 GET /api/v1${path}${end}`)
    await visitor.open(path)
    await visitor.page.getByRole('heading', { name: 'Page not found' }).waitFor()
  })
})

function entryTitles(page: Page): Promise<string[]> {
  return page.locator('.timeline-title').allTextContents()
}

/** The text of the page and its active filters. */
async function readView(visitor: Visitor): Promise<string> {
  const { page } = visitor
  await page.locator('.diff').waitFor()
  await page.locator('.chart-marker[data-entry]').first().waitFor()
  await visitor.settle()
  const filters = await page.locator('[aria-pressed="true"]').allTextContents()
  return `${filters.join(', ')}\n${await page.locator('main').innerText()}`
}
