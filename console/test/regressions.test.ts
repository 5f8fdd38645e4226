import assert from 'node:assert/strict'
import { test } from 'node:test'
import { addAlert, addDelivery } from '../../testing/alerts.ts'
import { eventually } from '../../testing/eventually.ts'
import { openRegression } from '../../testing/regressions.ts'
import { queryRows } from '../../testing/rows.ts'
import { inBatches, noDetails, signalFor } from '../../testing/signals.ts'
import { checkAccessibility } from './support/accessibility.ts'
import { inBrowser } from './support/browser.ts'
import { createChangedPrompt, dayMs } from './support/changed-prompt.ts'
import { eventuallyHasFocus, tabTo } from './support/keyboard.ts'
import { rowWith } from './support/table-row.ts'

// Slow: opens regressions from votes, and each page in a real browser.

inBrowser('The page of a regression', (suite) => {
  const { service } = suite

  /** A prompt that a commit made worse, found by the judge. */
  async function worsePrompt() {
    const { scenario, prompt } = await createChangedPrompt(service)
    const { tenant } = scenario
    service.judge.touch(tenant.organisation.id, prompt.id)
    await service.judge.round()
    const [regression] = await service.store.regressions.ofPrompt(prompt)
    assert.equal(regression?.state, 'open')
    return { tenant, prompt, regression, path: `/prompts/${prompt.publicId}/regressions/${regression.id}` }
  }

  test('it is linked from the list and from its prompt, and names the change, its author, the rates and why', async (t) => {
    const { tenant, prompt, path } = await worsePrompt()
    const visitor = await suite.visit(t, { at: '/prompts', key: tenant.key })
    const { page } = visitor
    await page.getByRole('link', { name: 'Open regression: 80% → 50%' }).click()
    await page.getByRole('heading', { name: 'Regression: 80% → 50% positive' }).waitFor()
    assert.equal(visitor.path, path)
    const main = page.locator('#main')
    await main.getByRole('link', { name: 'Sell something' }).waitFor()
    const text = await main.innerText()
    const parts = [
      'Open',
      'Ada Lovelace',
      '80% positive of 400 signals',
      '50% positive of 300 signals',
      '−30 percentage points',
    ]
    for (const part of [...parts, 'A fall of this size at this moment', 'went live', 'No alert yet']) {
      assert.ok(text.includes(part), `${part}: ${text}`)
    }
    await main.getByRole('link', { name: 'See the change in the history of the prompt' }).click()
    await page.locator('.diff').waitFor()
    assert.match(visitor.path, new RegExp(`^/prompts/${prompt.publicId}\\?entry=\\d+$`))
    const notice = page.getByRole('region', { name: 'Open regressions' })
    assert.match(await notice.innerText(), /Open regression: 80% → 50% since the change by Ada Lovelace/)
    await notice.getByRole('link').click()
    await page.getByRole('heading', { name: 'Regression: 80% → 50% positive' }).waitFor()
  })

  test('a share link shows it to people without a key, with no way to anything else, until it is revoked', async (t) => {
    const { tenant, prompt, path } = await worsePrompt()
    const { page } = await suite.visit(t, { at: path, key: tenant.key })
    await page.getByRole('button', { name: 'Share' }).click()
    const dialog = page.getByRole('dialog', { name: 'Share this regression' })
    await checkAccessibility(page, 'the dialog that shares a regression')
    await dialog.getByRole('button', { name: 'Create link' }).click()
    const url = await page.getByRole('textbox', { name: 'Read-only link' }).inputValue()
    const { pathname, hash } = new URL(url)
    const visitor = await suite.visit(t, { at: pathname + hash })
    const main = visitor.page.locator('#main')
    await main.getByRole('heading', { name: `${prompt.name}: 80% → 50% positive` }).waitFor()
    await main.locator('.chart svg').first().waitFor()
    await main.locator('.diff').waitFor()
    await checkAccessibility(visitor.page, 'a shared regression')
    const links = await visitor.page
      .getByRole('link')
      .evaluateAll((all) => all.map((link) => link.getAttribute('href')))
    assert.deepEqual(
      links.filter((href) => !href?.startsWith('http')),
      [],
    )
    assert.equal(await main.getByText('Newest negative comments').count(), 0)
    // The token stays in the fragment while the view changes, and survives a reload.
    await main.getByRole('button', { name: 'Zoom in' }).click()
    await eventually(() => assert.match(visitor.path, /^\/shared\?from=/))
    await visitor.page.reload()
    await main.locator('.diff').waitFor()

    // Otherwise the page could ask for more while the link is revoked.
    await visitor.page.goto('about:blank')
    const [share] = (await service.store.shares.page(tenant.organisation.id, null, { page: '1', limit: 1 })).shares
    await service.store.shares.revoke(prompt, share?.id as number, service.now, { keyId: 1 })
    visitor.expectErrors('401 GET /api/v1/shared')
    await visitor.open(pathname + hash)
    await visitor.page.getByRole('heading', { name: 'This link was revoked.' }).waitFor()
  })

  test('a share link of a prompt shows its chart, changes and diffs, and not the comments unless that was chosen', async (t) => {
    const { tenant, prompt } = await worsePrompt()
    const { page } = await suite.visit(t, { at: `/prompts/${prompt.publicId}?do=share`, key: tenant.key })
    await page.getByRole('combobox', { name: 'Expires after' }).selectOption('30 days')
    await page.getByRole('checkbox', { name: 'Include signals, with their comments and metadata' }).check()
    await page.getByRole('button', { name: 'Create link' }).click()
    const { pathname, hash } = new URL(await page.getByRole('textbox', { name: 'Read-only link' }).inputValue())
    const visitor = await suite.visit(t, { at: pathname + hash })
    await visitor.page
      .getByRole('button', { name: /Sell something/ })
      .first()
      .click()
    const panel = visitor.page.locator('.change-panel')
    await panel.locator('.diff').waitFor()
    await panel.getByText('Newest negative comments').waitFor()
    await checkAccessibility(visitor.page, 'a shared prompt')
    assert.equal(await visitor.page.getByText('CSV').count(), 0)

    await page.goto(page.url())
    const row = page
      .getByRole('dialog')
      .getByRole('listitem')
      .filter({ hasText: `…${hash.slice(-4)}` })
    await row.getByRole('button', { name: /^Revoke the link/ }).click()
    await row.waitFor({ state: 'detached' })
  })

  test('it shows the chart around the change, its diff and the negative comments, and dismissing is the lesser action', async (t) => {
    const { tenant, prompt, regression, path } = await worsePrompt()
    const details = { ...noDetails, comment: 'It tried to sell me a plan.' }
    const comment = { promptId: prompt.id, value: 'negative', details } as const
    await service.store.signals.import(inBatches([signalFor(tenant, { ...comment, createdAt: service.now - dayMs })]))
    const visitor = await suite.visit(t, { at: path, key: tenant.key })
    const { page } = visitor
    await page.locator(`.chart-marker.regression[data-entry="${regression.entryId}"]`).waitFor()
    await page.locator('.chart-band.worse').waitFor()
    await page.locator('.diff').getByText('Always offer our newest plan.').waitFor()
    await page
      .getByRole('region', { name: 'Newest negative comments' })
      .getByText('It tried to sell me a plan.')
      .waitFor()
    assert.equal(await page.getByRole('button', { name: 'Reset zoom' }).count(), 0, 'the whole range is shown')
    await page.getByRole('button', { name: 'Zoom in' }).click()
    await page.getByRole('button', { name: 'Reset zoom' }).click()
    await eventually(() => assert.equal(visitor.path, path))
    const dismiss = page.getByRole('button', { name: 'Dismiss', exact: true })
    assert.equal(await dismiss.evaluate(({ classList }) => classList.contains('button')), false)
    await checkAccessibility(page, 'a regression with its evidence')
  })

  test('it says who was told', async (t) => {
    const { tenant, regression, path } = await worsePrompt()
    const { organisation } = tenant
    const [notice] = await queryRows(
      service.url,
      `select notice_id from notice_regressions where organisation_id = ${organisation.id} and regression_id = ${regression.id}`,
    )
    const told = { event: 'regression.opened', notice_id: Number(notice?.notice_id), finished_at: service.now }
    const team = await addAlert(service, organisation.id, { name: '#support', channel: 'slack' })
    await addDelivery(service, team, { ...told, state: 'sent' })
    await addDelivery(service, { organisationId: organisation.id, id: null }, { ...told, state: 'failed' })
    const reader = await service.key(organisation, 'reader')
    const { page } = await suite.visit(t, { at: path, key: reader })
    assert.match(await rowWith(page, '#support').innerText(), /Slack[\s\S]*A change made prompts worse[\s\S]*Sent/)
    assert.match(await rowWith(page, 'Pull request').innerText(), /Failed/)
    assert.equal(await page.getByRole('button', { name: 'Dismiss' }).count(), 0, 'a reader cannot dismiss')
  })

  test('it is dismissed with a reason, with the keyboard alone', async (t) => {
    const { tenant, prompt, path } = await worsePrompt()
    const key = await service.key(tenant.organisation, 'standard')
    const { page } = await suite.visit(t, { at: path, key })
    const { keyboard } = page
    const dismiss = page.getByRole('button', { name: 'Dismiss', exact: true })
    await tabTo(page, dismiss)
    await keyboard.press('Enter')
    const dialog = page.getByRole('dialog', { name: 'Dismiss this regression?' })
    await eventuallyHasFocus(dialog.getByLabel('Reason'))
    await keyboard.press('Escape')
    await dialog.waitFor({ state: 'detached' })
    await eventuallyHasFocus(dismiss)
    await keyboard.press('Enter')
    await eventuallyHasFocus(dialog.getByLabel('Reason'))
    await keyboard.type('We accept it: shorter on purpose.')
    await tabTo(page, dialog.getByRole('button', { name: 'Dismiss', exact: true }))
    await keyboard.press('Enter')
    await dialog.waitFor({ state: 'detached' })
    await page.getByText('We accept it: shorter on purpose.').waitFor()
    await page.locator('.badge').getByText('Dismissed').waitFor()
    assert.equal(await dismiss.count(), 0)
    assert.equal((await service.store.regressions.ofPrompt(prompt))[0]?.state, 'dismissed')
    await page.getByRole('link', { name: 'Prompts' }).first().click()
    await page.getByRole('link', { name: 'prompts/p.md' }).waitFor()
    assert.equal(await page.getByRole('link', { name: /Open regression/ }).count(), 0)
  })

  test('a person takes it on with a comment, and without a token the form has the commands to undo it', async (t) => {
    const { tenant, path } = await worsePrompt()
    const key = await service.key(tenant.organisation, 'standard')
    const visitor = await suite.visit(t, { at: `${path}?undo`, key })
    const { page } = visitor
    visitor.expectErrors(`409 POST /api/v1${path}/proposals`)
    const dialog = page.getByRole('dialog', { name: 'Propose a revert?' })
    await dialog.getByRole('button', { name: 'Propose' }).click()
    await dialog.getByText('Or take the change back by hand').waitFor()
    await dialog.getByText('git revert --no-edit').waitFor()
    await dialog.getByRole('button', { name: 'Cancel' }).click()
    await eventually(() => assert.equal(visitor.path, path))
    const care = page.getByRole('region', { name: 'Who takes care of it' })
    await care.getByRole('button', { name: 'Acknowledge' }).click()
    await care.getByText('acknowledged it').waitFor()
    await care.getByLabel('Comment').fill('Looking into it.')
    await care.getByRole('button', { name: 'Save' }).click()
    await care.locator('blockquote').getByText('Looking into it.').waitFor()
    await checkAccessibility(page, 'a regression that a person takes care of')
  })

  test('an unknown regression is a page of its own, not an error', async (t) => {
    const { key, prompt } = await service.tenant()
    const path = `/prompts/${prompt.publicId}/regressions/987654`
    const visitor = await suite.visit(t, { key })
    visitor.expectErrors(`404 GET /api/v1${path}`)
    await visitor.open(path)
    await visitor.page.getByText('Page not found').waitFor()
  })
})

inBrowser('The list of regressions', (suite) => {
  const { service } = suite

  /** One regression in each state, and two open ones. */
  async function regressions() {
    const tenant = await service.tenant()
    const { store } = service
    const open = async (name: string, daysAgo: number, difference: number) => {
      const prompt = await service.prompt(tenant.organisation, name)
      const at = service.now - daysAgo * dayMs
      const commitSha = name.padEnd(40, 'a').slice(0, 40)
      return openRegression(tenant, at, { prompt, difference, commitSha, liveFrom: at, rateAfter: 0.85 + difference })
    }
    await open('large', 9, -0.3)
    await open('small', 5, -0.05)
    const repaired = await open('repaired', 8, -0.1)
    await store.regressions.repair(repaired.prompt, repaired.id, {
      at: service.now - 6 * dayMs,
      by: 'rate',
      entryId: null,
    })
    const withdrawn = await open('withdrawn', 7, -0.1)
    const withdrawal = { at: service.now - dayMs, explanation: 'Votes were deleted.' }
    await store.regressions.withdraw(withdrawn.prompt, withdrawn.id, withdrawal)
    const dismissed = await open('dismissed', 3, -0.1)
    const keyId = (await store.keys.list(tenant.organisation.id))[0]?.id as number
    await store.regressions.dismiss(dismissed.prompt, dismissed.id, 'On purpose.', service.now, { keyId })
    return tenant
  }

  test('regressions are listed by state and in any order, which the URL and Back remember', async (t) => {
    const tenant = await regressions()
    const visitor = await suite.visit(t, { key: tenant.key })
    const { page } = visitor
    await page.getByRole('link', { name: 'Regressions' }).click()
    const names = () => page.getByRole('table', { name: 'Regressions' }).getByRole('rowheader').allTextContents()
    const shows = async (expected: string[], path: string) => {
      await eventually(async () => assert.deepEqual(await names(), expected))
      assert.equal(visitor.path, path)
    }
    await shows(['small', 'large'], '/regressions')
    const cells = await rowWith(page, 'large').getByRole('cell').allTextContents()
    assert.deepEqual(cells.slice(0, 4), ['85% → 55%', '−30 points', 'Ada Lovelace', 'None'])
    assert.equal(cells.at(-1), '9 days')
    const state = (name: string) =>
      page.getByRole('group', { name: 'State' }).getByRole('button', { name, exact: true })
    await page.getByRole('button', { name: 'Difference' }).click()
    await shows(['large', 'small'], '/regressions?sort=difference')
    await state('Repaired').click()
    await shows(['repaired'], '/regressions?sort=difference&state=repaired')
    assert.equal((await rowWith(page, 'repaired').getByRole('cell').allTextContents()).at(-1), '2 days')
    await state('Withdrawn').click()
    await shows(['withdrawn'], '/regressions?sort=difference&state=withdrawn')
    await state('Dismissed').click()
    await shows(['dismissed'], '/regressions?sort=difference&state=dismissed')
    await page.goBack()
    await shows(['withdrawn'], '/regressions?sort=difference&state=withdrawn')
    await visitor.open('/regressions?state=all')
    await shows(['dismissed', 'small', 'withdrawn', 'repaired', 'large'], '/regressions?state=all')
    assert.match(await rowWith(page, 'dismissed').innerText(), /Dismissed/)
    await page.getByRole('link', { name: 'small' }).click()
    await page.getByRole('heading', { name: 'Regression: 85% → 80% positive' }).waitFor()
    await page.getByText('Open for 5 days').waitFor()
    await page.getByRole('navigation', { name: 'Breadcrumbs' }).getByRole('link', { name: 'Regressions' }).click()
    await shows(['small', 'large'], '/regressions')
  })

  test('shifts that nothing explains are listed beside, with a page where people take care of them and dismiss them', async (t) => {
    const tenant = await service.tenant()
    const at = service.now - 60 * dayMs
    const shift = {
      between: [at - dayMs, at + dayMs] as [number, number],
      rateBefore: 0.9,
      rateAfter: 0.6,
      candidates: null,
      foundAt: at,
    }
    await service.store.shifts.replace(tenant.prompt, [
      { at, ...shift, entryId: null, sharedWith: null },
      { at: at + dayMs, ...shift, entryId: null, sharedWith: 4 },
    ])
    const visitor = await suite.visit(t, { at: '/regressions', key: tenant.key })
    const { page } = visitor
    await page.getByRole('heading', { name: 'No open regressions' }).waitFor()
    const section = page.getByRole('region', { name: 'Unexplained shifts' })
    const rows = section.locator('tbody tr')
    await rows.first().waitFor()
    assert.equal(await rows.count(), 1)
    assert.match(await rows.first().innerText(), /90% → 60%/)
    await section.getByRole('link', { name: 'prompts/a.md' }).click()
    await page.getByRole('heading', { name: 'Shift: 90% → 60% positive' }).waitFor()
    const triage = page.getByRole('region', { name: 'Who takes care of it' })
    await triage.getByText('No one yet.').waitFor()
    await triage.getByLabel('Owner').fill('grace@example.com')
    await triage.getByLabel('Comment').fill('<b>The new model?</b>')
    await triage.getByRole('button', { name: 'Save' }).click()
    await triage.getByText('<b>The new model?</b>').waitFor()
    await triage.getByRole('button', { name: 'Acknowledge' }).click()
    await triage.getByText('grace@example.com, acknowledged with the key “test”.').waitFor()
    await page.getByRole('button', { name: 'Dismiss' }).click()
    const dialog = page.getByRole('dialog', { name: 'Dismiss this shift?' })
    await dialog.getByLabel('Reason').fill('New users joined.')
    await dialog.getByRole('button', { name: 'Dismiss' }).click()
    await page.getByText('Dismissed with the key “test”: New users joined.').waitFor()
    assert.equal(await page.getByRole('button', { name: 'Acknowledge' }).count(), 0)
    await checkAccessibility(page, 'a dismissed shift')
  })

  test('a shift that one of several changes may have caused lists them with their shares of the votes', async (t) => {
    const tenant = await service.tenant()
    const at = service.now - 60 * dayMs
    const [first, second] = [
      await tenant.recordEntry({ createdAt: at - dayMs, commitSha: 'a1'.repeat(20) }),
      await tenant.recordEntry({ createdAt: at, commitSha: 'b2'.repeat(20) }),
    ]
    const changes = [
      { entryId: second.id, share: 0.7 },
      { entryId: first.id, share: 0.2 },
    ]
    const between: [number, number] = [at - 2 * dayMs, at + dayMs]
    const rates = { rateBefore: 0.9, rateAfter: 0.75 }
    const unexplained = { entryId: second.id, sharedWith: null, candidates: { count: 2, changes }, foundAt: at }
    await service.store.shifts.replace(tenant.prompt, [{ at, between, ...rates, ...unexplained }])
    const { page } = await suite.visit(t, { at: '/regressions', key: tenant.key })
    const section = page.getByRole('region', { name: 'Unexplained shifts' })
    await section.getByText('One of 2 changes').click()
    const items = await section.getByRole('listitem').allInnerTexts()
    assert.equal(items.length, 2)
    assert.match(items[0] ?? '', /^b2b2b2b .*, 70% of the votes$/)
    assert.match(items[1] ?? '', /^a1a1a1a .*, 20% of the votes$/)
    const href = await section.getByRole('link', { name: 'b2b2b2b' }).getAttribute('href')
    assert.equal(href, `/prompts/${tenant.prompt.publicId}?entry=${second.id}`)
  })
})
