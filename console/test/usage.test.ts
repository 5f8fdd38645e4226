import assert from 'node:assert/strict'
import { test } from 'node:test'
import { inBrowser } from './support/browser.ts'

inBrowser('The usage page', (suite) => {
  const { service } = suite

  test('usage is shown against the monthly limit, with the time it resets and the last twelve months', async (t) => {
    const tenant = await service.tenant('free')
    await tenant.fillMonth(850)
    const { page } = await suite.visit(t, { at: '/usage', key: tenant.key })
    const meter = page.getByRole('meter', { name: 'Signals recorded this month' })
    await meter.waitFor()
    assert.equal(await meter.getAttribute('aria-valuetext'), '850 of 1,000 signals')
    const thisMonth = page.getByRole('region', { name: 'This month' })
    const text = await thisMonth.innerText()
    for (const part of ['Free plan', '85%', '150', 'You are close to this month']) {
      assert.ok(text.includes(part), `${part}: ${text}`)
    }
    const now = new Date(service.now)
    const resetsAt = new Date(Date.UTC(now.getUTCFullYear(), now.getUTCMonth() + 1)).toISOString()
    assert.equal(await thisMonth.locator('time').first().getAttribute('datetime'), resetsAt)
    const rows = await page.getByRole('table').getByRole('row').allTextContents()
    assert.equal(rows.length, 1 + 12)
    const month = now.toLocaleDateString('en-GB', { month: 'long', year: 'numeric', timeZone: 'UTC' })
    assert.equal(rows.at(-1), `${month}850`)
    await tenant.fillMonth(150)
    await page.reload()
    await page.getByText('You have reached this month').waitFor()
  })

  test('usage without a monthly limit shows the count and no share of it', async (t) => {
    service.planLimits.business = null
    const tenant = await service.tenant('business')
    await tenant.fillMonth(1_234)
    const { page } = await suite.visit(t, { at: '/usage', key: tenant.key })
    const thisMonth = page.getByRole('region', { name: 'This month' })
    await thisMonth.waitFor()
    const text = await thisMonth.innerText()
    assert.match(text, /1,234 signals, no monthly limit/)
    assert.match(text, /Unlimited/)
    assert.doesNotMatch(text, /%|NaN|null/)
    assert.equal(await page.getByRole('meter').count(), 0)
  })

  test('from 80% of the limit, every page says so until it is dismissed, and at the limit it stays', async (t) => {
    const tenant = await service.tenant('free')
    await tenant.fillMonth(799)
    const visitor = await suite.visit(t, { key: tenant.key })
    const { page } = visitor
    const banner = page.getByRole('complementary', { name: 'Monthly limit' })
    await page.getByRole('link', { name: 'prompts/a.md' }).waitFor()
    assert.equal(await banner.count(), 0, 'below 80%')

    await tenant.fillMonth(1)
    await page.reload()
    await banner.waitFor()
    assert.match(await banner.innerText(), /800 of 1,000 signals of this month's limit are used\..* rejected until 1 /s)
    await page.getByRole('link', { name: 'Regressions' }).click()
    await banner.getByRole('button', { name: 'Dismiss for this month' }).click()
    await banner.waitFor({ state: 'detached' })
    await page.reload()
    await page.getByRole('heading', { name: 'Regressions', exact: true }).waitFor()
    assert.equal(await banner.count(), 0, 'stays dismissed')

    await tenant.fillMonth(200)
    await page.reload()
    await banner.waitFor()
    assert.match(await banner.innerText(), /This month's limit is reached: 1,000 of 1,000 signals\..*429/s)
    assert.equal(await banner.getByRole('button').count(), 0)
    await banner.getByRole('link', { name: 'What to do' }).click()
    await page.getByText(`promptledger org set-plan ${tenant.organisation.id} team`).waitFor()
    await banner.waitFor()
  })
})
