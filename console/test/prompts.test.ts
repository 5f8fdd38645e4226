import assert from 'node:assert/strict'
import { before, test } from 'node:test'
import type { Page } from 'playwright-core'
import { operator } from '../../server/src/domain/access/audit.ts'
import { newPrompt } from '../../server/src/domain/prompt.ts'
import { eventually } from '../../testing/eventually.ts'
import { inBrowser } from './browser.ts'
import { changedPrompt, day, type Scene, titles, vote } from './scene.ts'
import type { Visit } from './visit.ts'

inBrowser('Prompts', (surroundings) => {
  const { service } = surroundings
  let scene: Scene
  let key: string
  let place: string
  before(async () => {
    scene = await changedPrompt(service)
    key = scene.scenario.tenant.key
    place = `/prompts/${scene.prompt.publicId}`
    await vote(service, scene.scenario.tenant.prompt, [9, 1], { positive: 10, negative: 0 })
  })

  test('are listed with their last change, their signals day by day, and the verdict', async (t) => {
    const { page } = await surroundings.visit(t, { key })
    const row = page.getByRole('row').filter({ has: page.getByRole('link', { name: 'prompts/p.md' }) })
    await row.waitFor()
    const [change, signals, share, verdict] = await row.getByRole('cell').allTextContents()
    assert.match(change ?? '', /^Deployed.*Ada Lovelace.*2 weeks ago$/)
    assert.match(signals ?? '', /^3\d\d$/)
    assert.match(share ?? '', /^5\d %$/)
    assert.equal(verdict, 'Worse')
    const sparkline = row.getByRole('img', { name: `${signals} signals in 30 days` })
    assert.equal(await sparkline.locator('g').count(), 30)
    const heights = await sparkline.locator('rect').evaluateAll((bars) => bars.map((bar) => bar.getAttribute('height')))
    assert.ok(heights.filter((height) => Number(height) > 0).length > 40, `hardly any bars: ${heights}`)
    assert.equal(await page.title(), 'Prompts · Promptledger')
  })

  test('are sorted by what one clicks, and the address says so', async (t) => {
    const visitor = await surroundings.visit(t, { key })
    const { page } = visitor
    const header = (name: string) => page.getByRole('columnheader', { name })
    async function shows(names: string[], query: string, column: string, direction: string) {
      await eventually(async () => assert.deepEqual(await promptsOn(page), names))
      assert.equal(visitor.place, `/prompts${query}`)
      assert.equal(await header(column).getAttribute('aria-sort'), direction)
      assert.equal(await page.locator('[aria-sort]').count(), 1)
    }
    const [a, p, q] = ['prompts/a.md', 'prompts/p.md', 'prompts/q.md']
    await shows([a, p, q], '', 'Prompt', 'ascending')
    const clicks: [string, string[], string, string][] = [
      ['Prompt', [q, p, a], '?sort=-name', 'descending'],
      ['Last change', [p, q, a], '?sort=-last_change', 'descending'],
      ['Last change', [q, p, a], '?sort=last_change', 'ascending'],
      ['Signals, 30 days', [p, a, q], '?sort=-signals', 'descending'],
      ['Positive', [p, a, q], '?sort=positive_share', 'ascending'],
      ['Positive', [a, p, q], '?sort=-positive_share', 'descending'],
    ]
    for (const [column, names, query, direction] of clicks) {
      await header(column).getByRole('button').click()
      await shows(names, query, column, direction)
    }
    await page.reload()
    await shows([a, p, q], '?sort=-positive_share', 'Positive', 'descending')
  })

  test('are found by a part of their name', async (t) => {
    const visitor = await surroundings.visit(t, { key })
    const { page } = visitor
    const field = page.getByRole('searchbox', { name: 'Search prompts' })
    await field.fill('Q.m')
    await eventually(async () => assert.deepEqual(await promptsOn(page), ['prompts/q.md']))
    assert.equal(visitor.place, '/prompts?q=Q.m')
    await field.fill('no such thing')
    await page.getByRole('heading', { name: 'Nothing found' }).waitFor()
    await page.getByText('No prompt has “no such thing” in its name or its path.').waitFor()
    await page.reload()
    await page.getByRole('heading', { name: 'Nothing found' }).waitFor()
    assert.equal(await field.inputValue(), 'no such thing')
    await field.fill('')
    await eventually(async () => assert.equal((await promptsOn(page)).length, 3))
    assert.equal(visitor.place, '/prompts')
  })

  test('come in pages', async (t) => {
    const organisation = await service.organisation()
    for (let i = 10; i < 40; i++) {
      await service.store.prompts.create(newPrompt(organisation.id, `prompt ${i}`, service.now), operator)
    }
    const visitor = await surroundings.visit(t, { key: await service.key(organisation) })
    const { page } = visitor
    const pager = page.getByRole('navigation', { name: 'Pages of prompts' })
    await pager.getByText('1 to 25 of 30 prompts').waitFor()
    assert.ok(await pager.getByRole('button', { name: 'Previous page' }).isDisabled())
    await pager.getByRole('button', { name: 'Next page' }).click()
    await pager.getByText('26 to 30 of 30 prompts').waitFor()
    await eventually(async () => assert.equal((await promptsOn(page))[0], 'prompt 35'))
    assert.equal(visitor.place, '/prompts?page=2')
    assert.ok(await pager.getByRole('button', { name: 'Next page' }).isDisabled())
  })

  test('are missed with words on how to connect a repository, for each role', async (t) => {
    const organisation = await service.organisation()
    const standard = await surroundings.visit(t, { key: await service.key(organisation) })
    await standard.page.getByRole('heading', { name: 'No prompts yet' }).waitFor()
    await standard.page.getByText('promptledger repo connect').waitFor()
    assert.equal(await standard.page.getByRole('link', { name: 'Connect a repository' }).count(), 0)
    const admin = await surroundings.visit(t, { key: await service.key(organisation, 'admin') })
    await admin.page.getByRole('link', { name: 'Connect a repository' }).click()
    await eventually(() => assert.equal(new URL(admin.page.url()).pathname, '/repositories'))
  })

  test('have a chart with a marker at each change and a timeline of all that happened', async (t) => {
    const { page } = await surroundings.visit(t, { at: place, key })
    await page.getByRole('heading', { name: 'prompts/p.md' }).waitFor()
    await eventually(async () => assert.deepEqual(await titlesOn(page), titles))
    const described = await page.getByRole('figure').getAttribute('aria-label')
    assert.match(described ?? '', /: 1,100, 63 % of them positive\. 3 changes\. Worse since .*\. Better since /)
    const markers = page.locator('.chart-marker')
    assert.deepEqual(await markers.evaluateAll((found) => found.map((marker) => marker.textContent?.split('\n')[0])), [
      'Sell something',
      'Answer in three sentences',
      'Start with a helper',
    ])
    // A marker is where its day is: of 90 days, the changes were 20, 60 and 90 days ago.
    const across = await markers
      .locator('circle')
      .evaluateAll((dots) => dots.map((dot) => Number(dot.getAttribute('cx'))))
    const [sold, shortened, started] = across as [number, number, number]
    assert.ok(Math.abs((sold - shortened) / (sold - started) - 40 / 70) < 0.01, `markers at ${across}`)
    for (const part of ['.chart-line', '.chart-band', '.chart-count', '.chart-level.better', '.chart-level.worse']) {
      assert.notEqual(await page.locator(part).count(), 0, part)
    }
    const merged = page.getByRole('listitem').filter({ hasText: 'Answer in three sentences' })
    const facts = await merged.innerText()
    for (const fact of ['Better', 'Bob', 'main', '#7', 'Merged']) assert.ok(facts.includes(fact), `${fact}: ${facts}`)
    const links = await merged.getByRole('link').evaluateAll((found) => found.map((link) => link.getAttribute('href')))
    assert.match(links[0] ?? '', /^https:\/\/.*\/pull\/7$/)
    assert.match(links[1] ?? '', /^https:\/\/.*\/commit\/[0-9a-f]{40}$/)
  })

  test('have entries that open to the words that changed and the figures before and after', async (t) => {
    const visitor = await surroundings.visit(t, { at: place, key })
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
    assert.deepEqual(rows.slice(1), ['Before22018055 %', 'After3208080 %'])
    await merged.getByText('The share of positive signals changed by +25 points').waitFor()

    await page.getByRole('button', { name: 'Sell something' }).click()
    await page.getByText('Always offer our newest plan.').waitFor()
    assert.equal(await page.locator('.diff').count(), 1, 'one entry is open at a time')
    await page.getByRole('button', { name: 'Sell something' }).click()
    await eventually(async () => assert.equal(await page.locator('.diff').count(), 0))
    assert.equal(visitor.place, place)
  })

  test('have a chart and a timeline that point at each other', async (t) => {
    const { page } = await surroundings.visit(t, { at: place, key })
    const marker = page.locator('.chart-marker', { hasText: 'Answer in three sentences' })
    const item = page.getByRole('listitem').filter({ hasText: 'Answer in three sentences' })
    const pointed = page.locator('[data-pointed="true"]')
    async function bothArePointedAt() {
      await page.locator('.chart-marker[data-pointed="true"]', { hasText: 'Answer in three sentences' }).waitFor()
      await page.locator('li[data-pointed="true"]', { hasText: 'Answer in three sentences' }).waitFor()
      // And the level between this change and the next.
      assert.equal(await pointed.count(), 3)
    }
    await item.hover()
    await bothArePointedAt()
    await page.getByRole('heading', { name: 'History', exact: true }).hover()
    await eventually(async () => assert.equal(await pointed.count(), 0))
    await marker.locator('circle').hover()
    await bothArePointedAt()
    await page.locator('.chart-reading').waitFor()
    await marker.locator('circle').click()
    await item.locator('.diff').waitFor()
    await page.getByRole('heading', { name: 'prompts/p.md' }).hover()
    await eventually(async () => assert.equal(await page.locator('.chart-reading').count(), 0))
  })

  test('have filters by action and by time', async (t) => {
    const visitor = await surroundings.visit(t, { at: place, key })
    const { page } = visitor
    const click = (name: string) => page.getByRole('button', { name, exact: true }).click()
    async function shows(expected: string[], query: string, markers: number) {
      await eventually(async () => assert.deepEqual(await titlesOn(page), expected))
      await eventually(async () => assert.equal(await page.locator('.chart-marker').count(), markers))
      assert.equal(visitor.place, place + query)
    }
    const [sold, shortened, opened, started] = titles as [string, string, string, string]
    await click('Merged')
    await shows([shortened], '?action=pr_merged', 1)
    await click('Opened')
    await shows([shortened, opened], '?action=pr_merged%2Cpr_opened', 1)
    await click('Merged')
    await shows([opened], '?action=pr_opened', 0)
    await click('30 days')
    await page.getByRole('heading', { name: 'Nothing happened' }).waitFor()
    await click('Opened')
    await shows([sold], '?range=month', 1)
    await click('90 days')
    await shows([sold, shortened, opened], '?range=quarter', 2)
    await page.getByLabel('From').fill(dateOf(service.now - 95 * day))
    await shows([sold, shortened, opened, started], `?from=${dateOf(service.now - 95 * day)}`, 3)
    await page.getByLabel('To', { exact: true }).fill(dateOf(service.now - 30 * day))
    const span = `?from=${dateOf(service.now - 95 * day)}&to=${dateOf(service.now - 30 * day)}`
    await shows([shortened, opened, started], span, 2)
  })

  test('have a view that can be sent: all of it is in the address', async (t) => {
    const first = await surroundings.visit(t, { at: place, key })
    await first.page.getByRole('button', { name: '90 days' }).click()
    await first.page.getByRole('button', { name: 'Merged', exact: true }).click()
    await first.page.getByRole('button', { name: 'Answer in three sentences' }).click()
    const view = await viewOf(first)
    assert.match(view, /90 days, Merged/)
    assert.match(view, /They asked for it\./)
    await first.page.reload()
    assert.equal(await viewOf(first), view)
    const second = await surroundings.visit(t, { at: first.place, key })
    assert.equal(await viewOf(second), view)
    await second.page.getByRole('link', { name: 'Signals' }).click()
    await second.page.getByRole('heading', { name: 'Signals' }).waitFor()
    await second.page.goBack()
    assert.equal(await viewOf(second), view)
  })

  test('have a history of any length, in which an address finds its entry', async (t) => {
    const tenant = await service.tenant()
    const entries = []
    for (let i = 0; i < 60; i++) {
      entries.push(await tenant.record({ createdAt: service.now - (60 - i) * day, branchName: `branch-${i}` }))
    }
    const at = `/prompts/${tenant.prompt.publicId}`
    const reader = await surroundings.visit(t, { at, key: tenant.key })
    const items = reader.page.locator('.timeline-item')
    await eventually(async () => assert.equal(await items.count(), 25))
    await reader.page.getByRole('button', { name: 'Show older ones' }).click()
    await eventually(async () => assert.equal(await items.count(), 50))
    await reader.open(`${at}?entry=${entries[0]?.id}`)
    const oldest = items.filter({ hasText: 'branch-0' })
    await oldest.getByText('The text is not known').waitFor()
    await eventually(async () => {
      const { y } = (await oldest.boundingBox()) ?? { y: Number.NaN }
      assert.ok(y >= 0 && y < 720, `the entry is out of sight, at ${y}`)
    })
  })

  test('have times of the reader, with UTC on hover', async (t) => {
    const tenant = await service.tenant()
    await tenant.record({ createdAt: Date.parse('2026-07-01T01:30:05Z') })
    const { page } = await surroundings.visit(t, {
      at: `/prompts/${tenant.prompt.publicId}?from=2026-06-30&to=2026-06-30`,
      key: tenant.key,
      timezoneId: 'America/New_York',
      locale: 'en-US',
    })
    const time = page.getByRole('listitem').locator('time')
    await time.waitFor()
    // What stands before PM is a space that does not break, a narrow one.
    assert.equal((await time.textContent())?.replaceAll(/\s/gu, ' '), 'Jun 30, 2026, 9:30 PM')
    assert.equal(await time.getAttribute('title'), '2026-07-01 01:30:05 UTC')
    assert.equal(await time.getAttribute('datetime'), '2026-07-01T01:30:05.000Z')
  })

  test('are not there for another organisation', async (t) => {
    const { key: other } = await service.tenant()
    const visitor = await surroundings.visit(t, { at: '/usage', key: other })
    visitor.expect(`404 GET /api/v1${place}`)
    for (const end of ['', '/timeline', '/signals/summary']) visitor.expect(`404 GET /api/v1${place}${end}`)
    await visitor.open(place)
    await visitor.page.getByRole('heading', { name: 'There is nothing here' }).waitFor()
  })
})

function promptsOn(page: Page): Promise<string[]> {
  return page.getByRole('rowheader').getByRole('link').allTextContents()
}

function titlesOn(page: Page): Promise<string[]> {
  return page.locator('.timeline-title').allTextContents()
}

/** What a view shows and which choices it has made. */
async function viewOf({ page }: Visit): Promise<string> {
  await page.locator('.diff').waitFor()
  await page.locator('.chart-marker').first().waitFor()
  const chosen = await page.locator('[aria-pressed="true"]').allTextContents()
  return `${chosen.join(', ')}\n${await page.locator('main').innerText()}`
}

/** The day of an instant in the zone of the tests' browser, as an input of the type date has it. */
function dateOf(at: number): string {
  return new Intl.DateTimeFormat('sv-SE', { timeZone: 'Europe/Berlin' }).format(at)
}
