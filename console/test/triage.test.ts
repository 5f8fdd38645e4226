import assert from 'node:assert/strict'
import { test } from 'node:test'
import { inBrowser } from './support/browser.ts'
import { createChangedPrompt } from './support/changed-prompt.ts'
import { eventuallyHasFocus, tabTo } from './support/keyboard.ts'

inBrowser('Triage of a regression', (suite) => {
  const { service } = suite

  test('works with the keyboard alone: from the home page to the change, its diff and comments, and its dismissal', async (t) => {
    const { scenario, prompt } = await createChangedPrompt(service)
    const { tenant } = scenario
    const response = await service.app.inject({
      method: 'POST',
      url: `/api/v1/prompts/${prompt.publicId}/signals`,
      headers: tenant.headers,
      payload: { value: 'negative', comment: 'I asked for help, not for a new plan.' },
    })
    assert.equal(response.statusCode, 201, response.body)
    service.judge.touch(tenant.organisation.id, prompt.id)
    await service.judge.round()

    const { page } = await suite.visit(t, { at: '/prompts', key: tenant.key })
    const { keyboard } = page
    await tabTo(
      page,
      page
        .locator('#main')
        .getByRole('link', { name: /80% → 50%/ })
        .first(),
    )
    await keyboard.press('Enter')
    await page.getByRole('heading', { name: 'Regression: 80% → 50% positive' }).waitFor()
    await page.locator('.diff').getByText('Always offer our newest plan.').waitFor()
    await page.getByText('I asked for help, not for a new plan.').waitFor()
    await page.locator('.chart-marker.regression[data-highlighted="true"]').waitFor()

    const dismiss = page.getByRole('button', { name: 'Dismiss', exact: true })
    await tabTo(page, dismiss)
    await keyboard.press('Enter')
    const dialog = page.getByRole('dialog', { name: 'Dismiss this regression?' })
    await eventuallyHasFocus(dialog.getByLabel('Reason'))
    await keyboard.type('The plan was withdrawn.')
    await tabTo(page, dialog.getByRole('button', { name: 'Dismiss', exact: true }))
    await keyboard.press('Enter')
    await dialog.waitFor({ state: 'detached' })
    await page.getByText('The plan was withdrawn.').waitFor()
    assert.equal((await service.store.regressions.ofPrompt(prompt))[0]?.state, 'dismissed')
  })
})
