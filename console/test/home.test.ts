import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Page } from 'playwright-core'
import { addAlert, addDelivery } from '../../testing/alerts.ts'
import { eventually } from '../../testing/eventually.ts'
import { openRegression } from '../../testing/regressions.ts'
import { queryRows } from '../../testing/rows.ts'
import type { Tenant } from '../../testing/service.ts'
import { inBrowser } from './support/browser.ts'
import { createChangedPrompt, dayMs, importSignals } from './support/changed-prompt.ts'
import { timeZone } from './support/local-time.ts'

inBrowser('Home', (suite) => {
  const { service } = suite
  const attention = (page: Page) => page.getByRole('region', { name: 'Needs attention' })

  /** A regression of a pull request that went live 20 days ago. The votes showed it only now. */
  async function worsePrompt(tenant: Tenant, name: string, difference: number) {
    const prompt = await service.prompt(tenant.organisation, name)
    const liveFrom = service.now - 20 * dayMs
    const change = { commitSha: name.padEnd(40, 'a').slice(0, 40), rateBefore: 0.85, rateAfter: 0.85 + difference }
    const opened = await openRegression(tenant, service.now, { prompt, difference, liveFrom, ...change })
    const pull = `action = 'pr_merged', pr_number = 27, pr_url = 'https://forge.example/acme/prompts/pull/27'`
    await queryRows(service.url, `update history_entries set ${pull} where id = ${opened.entry.id}`)
    return opened
  }

  async function addShift(tenant: Tenant, daysAgo: number, rateAfter: number, foundDaysAgo = daysAgo) {
    const at = service.now - daysAgo * dayMs
    const shift = {
      between: [at - dayMs, at + dayMs] as [number, number],
      rateBefore: 0.9,
      rateAfter,
      candidates: null,
      foundAt: service.now - foundDaysAgo * dayMs,
    }
    await service.store.shifts.replace(tenant.prompt, [{ at, ...shift, entryId: null, sharedWith: null }])
  }

  test('it opens with open regressions, unexplained shifts, failing repositories and alerts, and limits', async (t) => {
    const { scenario } = await createChangedPrompt(service)
    const { tenant, repository } = scenario
    const { organisation } = tenant
    const { prompt, id } = await worsePrompt(tenant, 'support-reply', -0.25)
    // Found late, as after an import.
    await addShift(tenant, 60, 0.7, 3)
    await queryRows(service.url, `update repositories set last_error = 'no such host' where id = ${repository.id}`)
    const gone = await addAlert(service, organisation.id, { name: '#gone' })
    await service.store.alerts.disable(gone, 'The receiver responded with 410 Gone.', service.now)
    const failing = await addAlert(service, organisation.id, { name: '#failing' })
    await addDelivery(service, failing, { state: 'failed', error: 'HTTP 500', finished_at: service.now })
    await tenant.fillMonth(850)
    const visitor = await suite.visit(t, { key: tenant.key })
    const { page } = visitor
    const items = attention(page).getByRole('listitem')
    await eventually(async () => assert.equal(await items.count(), 6))
    const since = new Date(service.now - 20 * dayMs)
    const date = since.toLocaleDateString('en-GB', { day: 'numeric', month: 'short', year: 'numeric', timeZone })
    const texts = (await items.allInnerTexts()).map((text) => text.replaceAll(/\s+/g, ' '))
    const expected = [
      /^Monthly limit: [\d,]+ of 1,000 signals used/,
      new RegExp(`^support-reply: 85% → 60% since ${date}, Ada Lovelace, #27 open for 20 days$`),
      /^prompts\/a\.md: fell 90% → 70% around .*, without a change unexplained$/,
      /: does not sync no such host last synced/,
      /^#(gone|failing): the /,
      /^#(gone|failing): the /,
    ]
    for (const [i, pattern] of expected.entries()) assert.match(texts[i] ?? '', pattern)
    assert.match(texts.join(), /#gone: the alert is disabled The receiver responded with 410 Gone/)
    assert.match(texts.join(), /#failing: the last message was not delivered HTTP 500/)
    await page.getByRole('link', { name: 'support-reply' }).first().click()
    await page.getByRole('heading', { name: 'Regression: 85% → 60% positive' }).waitFor()
    assert.equal(visitor.path, `/prompts/${prompt.publicId}/regressions/${id}`)
  })

  test('of more than five open regressions, those with the largest losses are shown, with a link to all', async (t) => {
    const tenant = await service.tenant()
    for (let i = 1; i <= 7; i++) await worsePrompt(tenant, `prompt ${i}`, -i / 20)
    const visitor = await suite.visit(t, { key: tenant.key })
    const { page } = visitor
    const items = attention(page).getByRole('listitem')
    await eventually(async () => assert.equal(await items.count(), 6))
    const names = await attention(page).locator('.row-link').allTextContents()
    assert.deepEqual(names, ['prompt 7', 'prompt 6', 'prompt 5', 'prompt 4', 'prompt 3'])
    await page.getByRole('link', { name: 'All 7 open regressions' }).click()
    await page.getByRole('heading', { name: 'Regressions', exact: true }).waitFor()
    assert.equal(visitor.path, '/regressions')
  })

  test('it is calm when nothing needs attention, and an old or explained shift is not news', async (t) => {
    const { scenario, prompt } = await createChangedPrompt(service)
    await addShift(scenario.tenant, 40, 0.5)
    const { page } = await suite.visit(t, { key: scenario.tenant.key })
    await page.getByText('Nothing needs attention').waitFor()
    await page.getByRole('link', { name: prompt.name }).waitFor()
    assert.equal(await attention(page).count(), 0)
  })

  test('a part that fails says so with the ID of its request, and hides nothing else', async (t) => {
    const tenant = await service.tenant()
    await worsePrompt(tenant, 'support-reply', -0.25)
    const visitor = await suite.visit(t)
    const { page } = visitor
    visitor.expectErrors('500 GET /api/v1/shifts')
    const failing = '**/api/v1/shifts?*'
    await page.route(failing, (route) =>
      route.fulfill({
        status: 500,
        headers: { 'X-Request-Id': 'req-7f3a' },
        json: { error: { code: 'internal_error', message: 'Not today.' } },
      }),
    )
    await visitor.signIn(tenant.key)
    const failure = page.getByRole('alert')
    await failure.waitFor()
    assert.match(await failure.innerText(), /The shifts could not be loaded: Not today\. Request ID req-7f3a/)
    await attention(page).getByText('85% → 60%').waitFor()
    await page.getByRole('link', { name: 'prompts/a.md' }).waitFor()
    await page.unroute(failing)
    await failure.getByRole('button', { name: 'Try again' }).click()
    await failure.waitFor({ state: 'detached' })
    await attention(page).getByText('85% → 60%').waitFor()
  })

  test('the worst prompts come first: open regressions by their loss, then by the share of positive signals', async (t) => {
    const tenant = await service.tenant()
    const { organisation } = tenant
    for (const [name, positive] of [
      ['b fine', 90],
      ['c poor', 30],
    ] as const) {
      const prompt = await service.prompt(organisation, name)
      await importSignals(service, prompt, [9, 1], { positive, negative: 100 - positive })
      service.judge.touch(organisation.id, prompt.id)
    }
    await service.judge.round()
    await worsePrompt(tenant, 'd lost', -0.1)
    await worsePrompt(tenant, 'e lost more', -0.2)
    const visitor = await suite.visit(t, { key: tenant.key })
    const { page } = visitor
    const names = () => page.getByRole('rowheader').getByRole('link').allTextContents()
    const worstFirst = ['e lost more', 'd lost', 'c poor', 'b fine', 'prompts/a.md']
    await eventually(async () => assert.deepEqual(await names(), worstFirst))
    assert.equal(visitor.path, '/prompts')
    const order = page.getByRole('combobox', { name: 'Sort prompts' })
    await order.selectOption('Name, A to Z')
    await eventually(async () => assert.deepEqual(await names(), worstFirst.toSorted()))
    assert.equal(visitor.path, '/prompts?sort=name')
    await page.goBack()
    await eventually(async () => assert.deepEqual(await names(), worstFirst))
    assert.equal(await order.inputValue(), 'regression')
  })

  test('a key without admin rights asks for nothing that it may not read', async (t) => {
    const tenant = await service.tenant('free', 'reader')
    await worsePrompt(tenant, 'support-reply', -0.25)
    const asked: string[] = []
    const visitor = await suite.visit(t)
    visitor.page.on('request', (request) => asked.push(new URL(request.url()).pathname))
    await visitor.signIn(tenant.key)
    await attention(visitor.page).getByText('85% → 60%').waitFor()
    assert.ok(asked.includes('/api/v1/shifts'))
    for (const path of ['/api/v1/repositories', '/api/v1/alerts', '/api/v1/keys'])
      assert.ok(!asked.includes(path), path)
  })
})
