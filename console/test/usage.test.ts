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
})
