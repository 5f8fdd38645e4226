import assert from 'node:assert/strict'
import { before, test } from 'node:test'
import type { Page } from 'playwright-core'
import { operator } from '../../server/src/domain/access/audit.ts'
import { newPrompt } from '../../server/src/domain/prompt.ts'
import { eventually } from '../../testing/eventually.ts'
import { inBrowser } from './support/browser.ts'
import { createChangedPrompt, importSignals } from './support/changed-prompt.ts'

inBrowser('The prompts page', (suite) => {
  const { service } = suite
  let key: string
  before(async () => {
    const { scenario, prompt } = await createChangedPrompt(service)
    key = scenario.tenant.key
    service.judge.touch(prompt.organisationId, prompt.id)
    await service.judge.round()
    await importSignals(service, scenario.tenant.prompt, [9, 1], { positive: 10, negative: 0 })
  })

  test('a prompt is listed with its last change, its signals per day, and the effect of the last change', async (t) => {
    const { page } = await suite.visit(t, { key })
    const row = page.getByRole('row').filter({ has: page.getByRole('link', { name: 'prompts/p.md' }) })
    await row.waitFor()
    const [change, signals, share, verdict] = await row.getByRole('cell').allTextContents()
    assert.match(change ?? '', /^Deployed.*Ada Lovelace.*3 weeks ago$/)
    assert.match(signals ?? '', /^3\d\d$/)
    assert.match(share ?? '', /^5\d%$/)
    assert.equal(verdict, 'WorseOpen regression: 80% → 50%')
    const sparkline = row.getByRole('img', { name: `${signals} signals in 30 days` })
    const bars = await sparkline
      .locator('path')
      .evaluateAll((paths) => paths.map((path) => path.getAttribute('d') ?? ''))
    const counts = bars.map((path) => path.split('M').length - 1)
    assert.ok(counts.length === 2 && counts.every((count) => count > 20 && count <= 30), `bars: ${counts}`)
    assert.equal(await page.title(), 'Prompts · Promptledger')
  })

  test('a row is a link as a whole, a long path starts with its file, and few votes are no percentage', async (t) => {
    const tenant = await service.tenant()
    const folder = `prompts/${'customer-support/'.repeat(6)}replies`
    await service.store.prompts.create(newPrompt(tenant.organisation.id, `${folder}/refund.md`, service.now), operator)
    await importSignals(service, tenant.prompt, [3, 1], { positive: 1, negative: 0 })
    const visitor = await suite.visit(t, { key: tenant.key })
    const { page } = visitor
    const link = page.getByRole('link', { name: /^refund\.md prompts\/customer-.*….*\/replies$/ })
    assert.equal(await link.locator('[title]').getAttribute('title'), `${folder}/refund.md`)
    const row = page.getByRole('row').filter({ has: page.getByRole('link', { name: 'prompts/a.md' }) })
    assert.equal(await row.locator('.positive-share').textContent(), '1 of 1')
    const { height = 0, width = 0 } = (await row.boundingBox()) ?? {}
    assert.ok(height >= 24, `the row is ${height} px high`)
    // The prompt was created without a text.
    visitor.expectErrors(`404 GET /api/v1/prompts/${tenant.prompt.publicId}/live`)
    await row.click({ position: { x: width - 10, y: height / 2 } })
    await page.getByRole('heading', { name: 'prompts/a.md' }).waitFor()
  })

  test('clicking a column header sorts the prompts and updates the URL', async (t) => {
    const visitor = await suite.visit(t, { key })
    const { page } = visitor
    const header = (name: string) => page.getByRole('columnheader', { name, exact: true })
    async function shows(names: string[], query: string, column: string, direction: string) {
      await eventually(() => assert.equal(visitor.path, `/prompts${query}`))
      await eventually(async () => assert.deepEqual(await promptNames(page), names))
      assert.equal(await header(column).getAttribute('aria-sort'), direction)
      assert.equal(await page.locator('[aria-sort]').count(), 1)
    }
    const [a, p, q] = ['prompts/a.md', 'prompts/p.md', 'prompts/q.md']
    await eventually(async () => assert.deepEqual(await promptNames(page), [p, a, q]))
    assert.equal(await page.locator('[aria-sort]').count(), 0, 'the worst come first, which is the order of no column')
    const clicks: [string, string[], string, string][] = [
      ['Prompt', [a, p, q], '?sort=name', 'ascending'],
      ['Prompt', [q, p, a], '?sort=-name', 'descending'],
      ['Last change', [p, q, a], '?sort=-last_change', 'descending'],
      ['Last change', [q, p, a], '?sort=last_change', 'ascending'],
      ['Signals (30 days)', [p, a, q], '?sort=-signals', 'descending'],
      ['Positive', [p, a, q], '?sort=positive_share', 'ascending'],
      ['Positive', [a, p, q], '?sort=-positive_share', 'descending'],
      ['Effect of last change', [p, a, q], '?sort=effect', 'ascending'],
      ['Effect of last change', [p, a, q], '?sort=-effect', 'descending'],
    ]
    for (const [column, names, query, direction] of clicks) {
      await header(column).getByRole('button').click()
      await shows(names, query, column, direction)
    }
    await page.reload()
    await shows([p, a, q], '?sort=-effect', 'Effect of last change', 'descending')
    await page.goBack()
    await shows([p, a, q], '?sort=effect', 'Effect of last change', 'ascending')
  })

  test('searching finds prompts by part of their name and updates the URL', async (t) => {
    const visitor = await suite.visit(t, { key })
    const { page } = visitor
    const field = page.getByRole('searchbox', { name: 'Search prompts' })
    await field.fill('Q.m')
    await eventually(async () => assert.deepEqual(await promptNames(page), ['prompts/q.md']))
    assert.equal(visitor.path, '/prompts?q=Q.m')
    await field.fill('no such thing')
    await page.getByRole('heading', { name: 'No matching prompts' }).waitFor()
    await page.getByText('No prompt has “no such thing” in its name or path.').waitFor()
    await page.reload()
    await page.getByRole('heading', { name: 'No matching prompts' }).waitFor()
    assert.equal(await field.inputValue(), 'no such thing')
    await field.fill('')
    await eventually(async () => assert.equal((await promptNames(page)).length, 3))
    assert.equal(visitor.path, '/prompts')
  })

  test('more than 25 prompts are split into pages', async (t) => {
    const organisation = await service.organisation()
    for (let i = 10; i < 40; i++) {
      await service.store.prompts.create(newPrompt(organisation.id, `prompt ${i}`, service.now), operator)
    }
    const visitor = await suite.visit(t, { key: await service.key(organisation) })
    const { page } = visitor
    const pager = page.getByRole('navigation', { name: 'Pages of prompts' })
    await pager.getByText('1–25 of 30 prompts').waitFor()
    assert.ok(await pager.getByRole('button', { name: 'Previous page' }).isDisabled())
    await pager.getByRole('button', { name: 'Next page' }).click()
    await pager.getByText('26–30 of 30 prompts').waitFor()
    await eventually(async () => assert.equal((await promptNames(page))[0], 'prompt 35'))
    assert.equal(visitor.path, '/prompts?page=2')
    assert.ok(await pager.getByRole('button', { name: 'Next page' }).isDisabled())
  })

  test('an organisation without prompts sees how to connect a repository, depending on the role', async (t) => {
    const organisation = await service.organisation()
    const standard = await suite.visit(t, { key: await service.key(organisation) })
    await standard.page.getByRole('button', { name: 'Hide' }).click()
    await standard.page.getByRole('heading', { name: 'No prompts yet' }).waitFor()
    await standard.page.getByText('This requires an admin key.').waitFor()
    await standard.page.getByText(`promptledger repo connect --org ${organisation.id} `).waitFor()
    await standard.page.getByRole('button', { name: 'Copy the command' }).waitFor()
    assert.equal(await standard.page.getByRole('link', { name: 'Connect a repository' }).count(), 0)
    const admin = await suite.visit(t, { key: await service.key(organisation, 'admin') })
    await admin.page.getByRole('button', { name: 'Hide' }).click()
    await admin.page.getByRole('button', { name: 'Set up step by step' }).click()
    await admin.page.getByRole('heading', { name: 'Set up Acme' }).waitFor()
    await admin.page.getByRole('button', { name: 'Hide' }).click()
    await admin.page.getByRole('link', { name: 'Connect a repository' }).click()
    await eventually(() => assert.equal(new URL(admin.page.url()).pathname, '/repositories'))
  })
})

function promptNames(page: Page): Promise<string[]> {
  return page.getByRole('rowheader').getByRole('link').allTextContents()
}
