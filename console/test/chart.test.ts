import assert from 'node:assert/strict'
import { before, test } from 'node:test'
import type { Page, Request } from 'playwright-core'
import type { NewSignal } from '../../server/src/domain/signals/signal.ts'
import { eventually } from '../../testing/eventually.ts'
import { inBatches } from '../../testing/signals.ts'
import { checkAccessibility } from './support/accessibility.ts'
import { inBrowser } from './support/browser.ts'
import { createChangedPrompt, dayMs, importSignals } from './support/changed-prompt.ts'
import { localDay } from './support/local-time.ts'
import { createLongHistory } from './support/long-history.ts'

inBrowser('The chart', (suite) => {
  const { service } = suite
  let key: string
  let path: string
  before(async () => {
    const { scenario, prompt } = await createChangedPrompt(service)
    key = scenario.tenant.key
    path = `/prompts/${prompt.publicId}`
  })

  test('marks every change that went live, and leads with the average of each version and its range', async (t) => {
    const { page } = await suite.visit(t, { at: path, key })
    await eventually(async () => assert.equal(await page.locator('.chart-marker[data-entry]').count(), 3))
    const description = await page.getByRole('figure').getAttribute('aria-label')
    assert.match(
      description ?? '',
      /^1,100 signals, .* to .*, 63% positive\. 3 changes\. Worse since .*\. Better since /,
    )
    // The changes were 20, 60 and 90 days ago, so the markers are 40 and 30 days apart.
    const positions = await page
      .locator('.chart-marker line')
      .evaluateAll((lines) => lines.map((line) => Number(line.getAttribute('x1'))))
    const [started, shortened, sold] = positions as [number, number, number]
    assert.ok(Math.abs((sold - shortened) / (sold - started) - 40 / 70) < 0.01, `markers at ${positions}`)
    for (const verdict of ['better', 'worse']) {
      assert.equal(await page.locator(`.chart-average.${verdict}`).count(), 1, verdict)
      assert.equal(await page.locator(`.chart-band.${verdict}`).count(), 1, verdict)
    }
  })

  test('draws horizontal steps that end where a version was replaced', async (t) => {
    const { page } = await suite.visit(t, { at: path, key })
    await page.locator('.chart-marker[data-entry]').first().waitFor()
    const paths = await page.locator('.chart-line').evaluateAll((lines) => lines.map((line) => line.getAttribute('d')))
    assert.notEqual(paths.length, 0)
    for (const path of paths) assert.match(path ?? '', /^(M[\d.]+,[\d.]+H[\d.]+(L[\d.]+,[\d.]+H[\d.]+)*)+$/)
    const ends = paths.flatMap((path) => pointsOf(path ?? ''))
    const markers = await page
      .locator('.chart-marker line')
      .evaluateAll((lines) => lines.map((line) => Number(line.getAttribute('x1'))))
    for (const marker of markers) {
      const crossing = ends.filter(([from, to]) => from < marker - 1 && to > marker + 1)
      assert.deepEqual(crossing, [], `a step crosses the change at ${marker}`)
    }
  })

  test('does not make a trend of six signals, and says that a verdict needs more', async (t) => {
    const tenant = await service.tenant()
    await tenant.recordEntry({ createdAt: service.now - 12 * dayMs, commitSha: 'a1'.repeat(20) })
    await tenant.recordEntry({ createdAt: service.now - 2 * dayMs, commitSha: 'b2'.repeat(20) })
    await importSignals(service, tenant.prompt, [11, 3], { positive: 20, negative: 4 })
    await importSignals(service, tenant.prompt, [1.5, 0.1], { positive: 4, negative: 2 })
    const { page } = await suite.visit(t, { at: `/prompts/${tenant.prompt.publicId}`, key: tenant.key })
    await page.getByText('6 signals on the live version so far; a verdict needs more.').waitFor()
    assert.equal(await page.locator('.chart-line:not(.few, .open)').count(), 0)
    assert.equal(await page.locator('.chart-average:not(.few)').count(), 0)
  })

  test('marks the interval that is not over, and is interrupted where there are no signals', async (t) => {
    const tenant = await service.tenant()
    await tenant.recordEntry({ createdAt: service.now - 50 * dayMs })
    await importSignals(service, tenant.prompt, [48, 36], { positive: 2_000, negative: 500 })
    await importSignals(service, tenant.prompt, [12, 0], { positive: 2_000, negative: 500 })
    const { page } = await suite.visit(t, { at: `/prompts/${tenant.prompt.publicId}`, key: tenant.key })
    await page.locator('.chart-bar.part').last().waitFor()
    const lines = page.locator('.chart-line:not(.few, .open)')
    assert.equal(await lines.count(), 2)
    const [before, after] = await lines.evaluateAll((paths) => paths.map((path) => path.getAttribute('d') ?? ''))
    const [end, start] = [pointsOf(before ?? '').at(-1)?.[1] ?? 0, pointsOf(after ?? '')[0]?.[0] ?? 0]
    const { width } = (await page.locator('.chart svg').boundingBox()) ?? { width: 0 }
    assert.ok(Math.abs((start - end) / width - 24 / 50) < 0.05, `interrupted from ${end} to ${start} of ${width}`)
  })

  test('names the change that was live in the tooltip at the pointer, with its figures', async (t) => {
    const { page } = await suite.visit(t, { at: path, key })
    const markers = page.locator('.chart-marker[data-entry]')
    await eventually(async () => assert.equal(await markers.count(), 3))
    const [from, to] = await page
      .locator('.chart-marker line')
      .evaluateAll((lines) => lines.slice(1).map((line) => Number(line.getAttribute('x1'))))
    const svg = (await page.locator('.chart svg').boundingBox()) ?? { x: 0, y: 0 }
    const x = svg.x + ((from as number) + (to as number)) / 2
    await page.mouse.move(x, svg.y + 100)
    const tooltip = page.locator('.chart-tooltip')
    await tooltip.getByText('Answer in three sentences').waitFor()
    const text = await tooltip.innerText()
    for (const part of [/Live since .*, Bob, #7/, /55% → 80% of 400 signals, better/, /\d+% positive/])
      assert.match(text, part)
    const near = (await tooltip.boundingBox()) ?? { x: 0, width: 0 }
    assert.ok(Math.abs(near.x - x) < 20 || Math.abs(near.x + near.width - x) < 20, 'the tooltip is at the pointer')
    await markers.nth(2).locator('.chart-marker-dot').hover()
    await tooltip.getByText('Sell something').waitFor()
    await page.getByRole('heading', { name: 'History', exact: true }).hover()
    await eventually(async () => assert.equal(await tooltip.count(), 0))
  })

  test('pointing at a change highlights it in both the chart and the history, and a click selects it', async (t) => {
    const visitor = await suite.visit(t, { at: path, key })
    const { page } = visitor
    const item = page.getByRole('listitem').filter({ hasText: 'Answer in three sentences' })
    await page.locator('.chart-marker[data-entry]').first().waitFor()
    await item.hover()
    await page.locator('.chart-marker[data-highlighted="true"]').waitFor()
    await page.getByRole('heading', { name: 'History', exact: true }).hover()
    await eventually(async () => assert.equal(await page.locator('[data-highlighted="true"]').count(), 0))
    const marker = page.locator('.chart-marker[data-entry]').nth(1)
    await marker.locator('.chart-marker-dot').hover()
    await page.locator('li[data-highlighted="true"]', { hasText: 'Answer in three sentences' }).waitFor()
    await marker.locator('.chart-marker-dot').click()
    await page.locator('.change-panel').getByText('They asked for it.').waitFor()
    assert.match(visitor.path, /\?entry=\d+$/)
  })

  test('zooms to a dragged range, which is a step of the history, and resets', async (t) => {
    const visitor = await suite.visit(t, { at: path, key })
    const { page } = visitor
    await page.locator('.chart-marker[data-entry]').first().waitFor()
    await dragAcross(page, 0.3, 0.6)
    await eventually(async () => assert.match(visitor.path, /\?from=.*&to=/))
    // 27 of 90 days.
    const [from, to] = ['from', 'to'].map((name) => Date.parse(new URL(page.url()).searchParams.get(name) ?? ''))
    const days = ((to as number) - (from as number)) / dayMs
    assert.ok(days > 25 && days < 30, `${days} days`)
    await eventually(async () => assert.equal(await page.locator('.chart-marker').count(), 1))
    await page.reload()
    await page.getByRole('button', { name: 'Reset zoom' }).waitFor()
    await page.goBack()
    await eventually(async () => assert.equal(await page.locator('.chart-marker').count(), 3))
    assert.equal(visitor.path, path)
    await page.goForward()
    await page.getByRole('button', { name: 'Reset zoom' }).click()
    await eventually(async () => assert.equal(visitor.path, path))
  })

  test('zooms and moves with the keyboard, and scrolls the page under a finger', async (t) => {
    const visitor = await suite.visit(t, { at: path, key })
    const { page } = visitor
    await page.locator('.chart-marker[data-entry]').first().waitFor()
    const spanDays = () => {
      const { searchParams } = new URL(page.url())
      return (Date.parse(searchParams.get('to') ?? '') - Date.parse(searchParams.get('from') ?? '')) / dayMs
    }
    const press = async (name: string, expected: number) => {
      await page.getByRole('button', { name, exact: true }).focus()
      await page.keyboard.press('Enter')
      await eventually(async () => assert.ok(Math.abs(spanDays() - expected) < 1.5, `${name}: ${spanDays()} days`))
    }
    await press('Zoom in', 45)
    await press('Zoom in', 22)
    await press('Earlier', 22)
    await press('Later', 22)
    await press('Zoom out', 45)
    await page.getByRole('button', { name: 'Reset zoom' }).focus()
    await page.keyboard.press('Enter')
    await eventually(async () => assert.equal(visitor.path, path))
    assert.equal(await page.locator('.chart svg').evaluate((svg) => getComputedStyle(svg).touchAction), 'pan-y')
  })

  test('shows 2,000 changes as clusters with their number, and each of them after zooming in', async (t) => {
    const { tenant, regressionAt } = await createLongHistory(service, 2_000)
    const visitor = await suite.visit(t, { at: '/usage', key: tenant.key })
    const { page } = visitor
    const requests: Request[] = []
    page.on('requestfinished', (request) => {
      if (new URL(request.url()).pathname.endsWith('/timeline')) requests.push(request)
    })
    await visitor.open(`/prompts/${tenant.prompt.publicId}`)
    const markers = page.locator('.chart-marker')
    await markers.first().waitFor()
    const counts = async () =>
      markers.evaluateAll((groups) => groups.map((group) => Number((group as SVGElement).dataset.count)))
    const total = async () => (await counts()).reduce((sum, count) => sum + count, 0)
    assert.equal(await total(), 2_000, 'no change is missing')
    assert.ok((await counts()).length < 80, `${(await counts()).length} clusters`)
    // The regressions are loaded on their own, so the cluster of the open one turns red a moment later. Fails if several are red.
    await page.locator('.chart-marker.regression').waitFor()
    await visitor.settle()
    // Interaction: from the event to the frame that shows its result.
    const { x, y } = (await page.locator('.chart svg').boundingBox()) ?? { x: 0, y: 0 }
    for (let i = 0; i < 20; i++) await page.mouse.move(x + 100 + i * 30, y + 80 + i)
    await page
      .locator('.chart-tooltip')
      .getByText(/went live\. Zoom in/)
      .waitFor()
    // Each click zooms in on the cluster, until it is a single change, which it opens. How many it takes depends on what is near it.
    const change = page.locator('.change-panel').getByText(`change at ${regressionAt}`)
    await eventually(
      async () => {
        await page.locator('.chart-marker.regression .chart-marker-dot').click()
        await change.waitFor({ timeout: 2_000 })
      },
      { timeoutMs: 60_000 },
    )
    assert.equal(await page.locator('.chart-marker.regression[data-entry]').count(), 1)
    const responses = await Promise.all(requests.map((request) => request.response()))
    const entries = await Promise.all(responses.map(async (response) => (await response?.json())?.data.length))
    assert.ok(Math.max(...entries) <= 100, `${entries} judged entries in one response`)
  })

  test('draws every step at its share, also of many versions or few signals, and dashes only those of fewer than 30', async (t) => {
    const { tenant } = await createLongHistory(service, 1_500)
    // From 80% to 96% in the last weeks, and a day of seven signals at 0% before the others.
    await importSignals(service, tenant.prompt, [60, 0.1], { positive: 8_000, negative: 0 })
    await importSignals(service, tenant.prompt, [368, 367.9], { positive: 0, negative: 7 })
    const at = `/prompts/${tenant.prompt.publicId}?from=${isoDay(service.now - 380 * dayMs)}`
    const { page } = await suite.visit(t, { at, key: tenant.key })
    // Not visible for Playwright: a horizontal line has no height.
    await page.locator('.chart-line.few').waitFor({ state: 'attached' })
    const [solid, few] = await Promise.all([
      sharesOf(page, '.chart-line:not(.few, .open)'),
      sharesOf(page, '.chart-line.few'),
    ])
    for (const share of [0.8, 0.96]) {
      assert.ok(
        solid.some((drawn) => Math.abs(drawn - share) < 0.02),
        `${share} is not drawn as a solid line: ${solid}`,
      )
    }
    assert.ok(
      solid.every((drawn) => drawn > 0.7 && drawn < 1),
      `solid at ${solid}`,
    )
    assert.ok(
      few.some((drawn) => Math.abs(drawn) < 0.001),
      `0% is not drawn: ${few}`,
    )
  })

  test('draws a shift that no change explains as a band, and divides the average of the version there', async (t) => {
    const tenant = await service.tenant()
    await tenant.recordEntry({ createdAt: service.now - 60 * dayMs, commitSha: 'a1'.repeat(20) })
    await tenant.recordEntry({ createdAt: service.now - 40 * dayMs, commitSha: 'b2'.repeat(20) })
    await importSignals(service, tenant.prompt, [59, 21], { positive: 680, negative: 120 })
    await importSignals(service, tenant.prompt, [20, 0.1], { positive: 240, negative: 160 })
    const at = service.now - 20.5 * dayMs
    const between: [number, number] = [at - dayMs, at + dayMs]
    const rates = { rateBefore: 0.85, rateAfter: 0.6 }
    const unexplained = { entryId: null, sharedWith: null, candidates: null, foundAt: service.now }
    await service.store.shifts.replace(tenant.prompt, [{ at, between, ...rates, ...unexplained }])
    const { page } = await suite.visit(t, { at: `/prompts/${tenant.prompt.publicId}`, key: tenant.key })
    const label = page.locator('.chart-shift text')
    assert.equal(await label.textContent(), `unexplained shift, ${between.map(localDay).join(' to ')}`)
    const figure = (await page.getByRole('figure').getAttribute('aria-label')) ?? ''
    assert.match(figure, /Unexplained shift, .*: 85% → 60%/)
    await eventually(async () => assert.equal(await page.locator('.chart-average').count(), 3))
    const averages = await page
      .locator('.chart-average')
      .evaluateAll((lines) =>
        lines
          .map((line) => ['x1', 'x2', 'y1'].map((name) => Number(line.getAttribute(name))))
          .sort(([a = 0], [b = 0]) => a - b),
      )
    const [before, unharmed, fallen] = averages as [number[], number[], number[]]
    // The rate moved at the shift and not at the change.
    assert.ok(Math.abs((before[2] ?? 0) - (unharmed[2] ?? 0)) < 3, `${averages}`)
    assert.ok((fallen[2] ?? 0) - (unharmed[2] ?? 0) > 40, `${averages}`)
    const band = (await page.locator('.chart-shift rect').boundingBox()) ?? { x: 0, width: 0 }
    const svg = (await page.locator('.chart svg').boundingBox()) ?? { x: 0, y: 0 }
    const divided = (unharmed[1] ?? 0) + svg.x
    assert.ok(divided > band.x && divided < band.x + band.width, `divided at ${divided}, the band is at ${band.x}`)
    await page.mouse.move(band.x + band.width / 2, svg.y + 100)
    await page
      .locator('.chart-tooltip')
      .getByText(/unexplained shift, .*: 85% → 60%/)
      .waitFor()
  })

  test('names how many changes may be the cause of a shift', async (t) => {
    const tenant = await service.tenant()
    const entry = await tenant.recordEntry({ createdAt: service.now - 60 * dayMs })
    await importSignals(service, tenant.prompt, [59, 0.1], { positive: 300, negative: 100 })
    const at = service.now - 20.5 * dayMs
    const shift = { at, between: [at - dayMs, at + dayMs], rateBefore: 0.85, rateAfter: 0.6, foundAt: service.now }
    const candidates = { count: 3, changes: [{ entryId: entry.id, share: 1 }] }
    const cause = { entryId: entry.id, sharedWith: null, candidates }
    await service.store.shifts.replace(tenant.prompt, [{ ...shift, ...cause } as never])
    const { page } = await suite.visit(t, { at: `/prompts/${tenant.prompt.publicId}`, key: tenant.key })
    await page
      .locator('.chart-shift text')
      .getByText(/^shift by one of 3 changes, /)
      .waitFor()
  })

  test('draws a line for each of the largest segments, in steps of one version with enough signals', async (t) => {
    const tenant = await service.tenant('free', 'admin')
    const { prompt, organisation, headers } = tenant
    await tenant.recordEntry({ createdAt: service.now - 60 * dayMs, commitSha: 'a1'.repeat(20) })
    await tenant.recordEntry({ createdAt: service.now - 30 * dayMs, commitSha: 'b2'.repeat(20) })
    const signals = ['large', 'small'].flatMap((model, i) =>
      Array.from({ length: 400 }, (_, k): NewSignal => {
        const value = k % 4 < (i === 0 ? 3 : 1) ? 'positive' : 'negative'
        const createdAt = service.now - 50 * dayMs + k * 0.1 * dayMs
        return {
          organisationId: organisation.id,
          promptId: prompt.id,
          value,
          metadata: JSON.stringify({ model }),
          createdAt,
        }
      }),
    )
    await service.store.signals.import(inBatches(signals))
    await service.app.inject({ method: 'PUT', url: '/api/v1/segments', headers, payload: { keys: ['model'] } })
    const visitor = await suite.visit(t, { at: `/prompts/${prompt.publicId}`, key: tenant.key })
    const { page } = visitor
    await page.getByRole('group', { name: 'Lines by segment' }).getByRole('button', { name: 'model' }).click()
    await eventually(async () => assert.equal(await page.locator('.chart > svg .chart-segment').count(), 2))
    const legend = page.getByRole('list', { name: 'Segments by model' })
    assert.deepEqual(await legend.getByRole('listitem').allInnerTexts(), ['large: 75% of 400', 'small: 25% of 400'])
    assert.match(visitor.path, /lines=model/)
    const heights = await page
      .locator('.chart > svg .chart-segment')
      .evaluateAll((paths) =>
        paths.map((path) => (path as SVGPathElement).getBBox()).map(({ y, height }) => [y, height]),
      )
    const paths = await page
      .locator('.chart > svg .chart-segment')
      .evaluateAll((all) => all.map((path) => path.getAttribute('d')))
    for (const path of paths) assert.equal(path?.match(/M/g)?.length, 2, `no step mixes two versions: ${path}`)
    const [[top = 0, spread = 0] = [], [bottom = 0] = []] = heights
    assert.ok(top + spread < bottom, `the line of the better segment is above the other: ${JSON.stringify(heights)}`)
    await checkAccessibility(page, 'a chart with lines of segments')
  })

  test('downloads as a picture that needs nothing else', async (t) => {
    const { page } = await suite.visit(t, { at: path, key })
    await page.locator('.chart-marker[data-entry]').first().waitFor()
    const download = async (format: string) => {
      const [file] = await Promise.all([
        page.waitForEvent('download'),
        page.getByRole('button', { name: `Download the chart as ${format}` }).click(),
      ])
      const chunks: Buffer[] = []
      for await (const chunk of await file.createReadStream()) chunks.push(chunk as Buffer)
      return { name: file.suggestedFilename(), content: Buffer.concat(chunks) }
    }
    const svg = await download('SVG')
    assert.equal(svg.name, 'prompts-p-md-feedback.svg')
    const text = svg.content.toString('utf8')
    assert.match(text, /^<svg xmlns="http:\/\/www\.w3\.org\/2000\/svg"/)
    for (const part of ['prompts/p.md', 'User feedback, ', '95% confidence range']) assert.ok(text.includes(part), part)
    assert.doesNotMatch(text.replace('http://www.w3.org/2000/svg', ''), /https?:|var\(|class=|<style|<script/)
    const png = await download('PNG')
    assert.equal(png.name, 'prompts-p-md-feedback.png')
    assert.equal(png.content.subarray(1, 4).toString('latin1'), 'PNG')
    assert.ok(png.content.length > 5_000, `${png.content.length} bytes`)
  })

  test('keeps the tooltip of a tap until the next tap elsewhere', async (t) => {
    const options = { viewport: { width: 375, height: 667 }, hasTouch: true, isMobile: true }
    const { page } = await suite.visit(t, { at: path, key, ...options })
    await page.locator('.chart-marker[data-entry]').first().waitFor()
    await page.locator('.chart svg').tap({ position: { x: 200, y: 90 } })
    await page
      .locator('.chart-tooltip')
      .getByText(/% positive/)
      .waitFor()
    await page.getByRole('heading', { name: 'User feedback over time' }).tap()
    await eventually(async () => assert.equal(await page.locator('.chart-tooltip').count(), 0))
  })

  test('is above the fold on a laptop, below the first lines of the live text, however long they are', async (t) => {
    const { scenario, prompt } = await createChangedPrompt(service)
    const long = Array.from({ length: 40 }, (_, i) => `Rule ${i}. ${'Be kind and precise. '.repeat(40)}\n`)
    scenario.git.commit('Explain everything', { 'prompts/p.md': long.join('') })
    await scenario.push()
    const visitor = await suite.visit(t, { at: '/usage', key: scenario.tenant.key })
    const { page } = visitor
    for (const height of [900, 720]) {
      await page.setViewportSize({ width: 1_280, height })
      await visitor.open(`/prompts/${prompt.publicId}`)
      await page.locator('.chart-marker').first().waitFor()
      await page.getByRole('button', { name: 'Show all 40 lines' }).waitFor()
      const text = await page.locator('.live-text .text-line').first().boundingBox()
      const chart = await page.locator('.chart svg').boundingBox()
      assert.ok(text !== null && chart !== null)
      assert.ok(text.y < chart.y, `the text begins at ${text.y}, the chart at ${chart.y}`)
      assert.ok(chart.y + chart.height <= height, `the chart is from ${chart.y} to ${chart.y + chart.height}`)
    }
    await page.getByRole('button', { name: 'Show all 40 lines' }).click()
    await page.getByRole('button', { name: 'Show less' }).waitFor()
    assert.equal(await page.locator('.live-text .text-line').count(), 40)
    const last = await page.locator('.live-text .text-line').last().boundingBox()
    const box = await page.locator('.live-text .text-lines').boundingBox()
    assert.ok(last !== null && box !== null && last.y + last.height <= box.y + box.height, 'the last line is cut off')
  })

  test('is above the fold on a phone', async (t) => {
    const viewport = { width: 375, height: 667 }
    const { page } = await suite.visit(t, { at: path, key, viewport })
    await page.locator('.chart-marker').first().waitFor()
    await page.locator('.live-text').waitFor()
    const { y, height } = (await page.locator('.chart svg').boundingBox()) ?? { y: 0, height: 0 }
    assert.ok(y + height * 0.8 < 667, `the chart is from ${y} to ${y + height}`)
    assert.equal(await page.evaluate(() => document.documentElement.scrollWidth), 375)
  })
})

function isoDay(at: number): string {
  return new Date(at).toISOString().slice(0, 'yyyy-mm-dd'.length)
}

/** The shares at which lines are drawn, read from the axis. */
function sharesOf(page: Page, lines: string): Promise<number[]> {
  return page.locator('.chart svg').evaluate((svg, selector) => {
    const grid = [...svg.querySelectorAll('.chart-grid')].map((line) => ({
      y: Number(line.querySelector('line')?.getAttribute('y1')),
      share: Number.parseFloat(line.textContent ?? '') / 100,
    }))
    const [low, high] = [grid[0], grid.at(-1)]
    if (low === undefined || high === undefined) return []
    const paths = [...svg.querySelectorAll(selector)].map((path) => path.getAttribute('d') ?? '')
    const heights = paths.flatMap((path) => [...path.matchAll(/,([-\d.]+)H/g)].map(([, y]) => Number(y)))
    return heights.map((y) => low.share + ((low.y - y) / (low.y - high.y)) * (high.share - low.share))
  }, lines)
}

/** Where the horizontal lines of a path start and end. */
function pointsOf(path: string): [number, number][] {
  return [...path.matchAll(/[ML]([\d.]+),[\d.]+H([\d.]+)/g)].map(([, from, to]) => [Number(from), Number(to)])
}

async function dragAcross(page: Page, from: number, to: number): Promise<void> {
  const box = await page.locator('.chart svg').boundingBox()
  assert.ok(box)
  const y = box.y + 120
  await page.mouse.move(box.x + 42 + (box.width - 52) * from, y)
  await page.mouse.down()
  await page.mouse.move(box.x + 42 + (box.width - 52) * ((from + to) / 2), y)
  await page.locator('.chart-selection').waitFor()
  await page.mouse.move(box.x + 42 + (box.width - 52) * to, y)
  await page.mouse.up()
}
