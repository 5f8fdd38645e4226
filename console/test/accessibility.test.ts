import assert from 'node:assert/strict'
import { test } from 'node:test'
import { addAlert, addDelivery } from '../../testing/alerts.ts'
import { eventually } from '../../testing/eventually.ts'
import { inBatches, signalFor } from '../../testing/signals.ts'
import { checkAccessibility } from './support/accessibility.ts'
import { inBrowser } from './support/browser.ts'
import { createChangedPrompt } from './support/changed-prompt.ts'
import { eventuallyHasFocus, tabTo } from './support/keyboard.ts'

inBrowser('Accessibility', (suite) => {
  const { service } = suite

  test('axe finds no serious problem on any page or dialog, in light and dark, and dialogs restore the focus', async (t) => {
    const { scenario, prompt } = await createChangedPrompt(service)
    const { key, organisation } = scenario.tenant
    const metadata = JSON.stringify({ model: 'small', trace: '4bf92f35' })
    const signal = signalFor(scenario.tenant, { promptId: prompt.id, metadata })
    await service.store.signals.import(inBatches([signal]))
    await service.key(organisation, 'ingest', service.now + 3_600_000)
    await scenario.send(scenario.forge.ping())

    const visitor = await suite.visit(t)
    const { page } = visitor
    await checkAccessibility(page, 'the sign-in page')
    visitor.expectErrors('401 POST /api/v1/session')
    await visitor.submitKey('wrong')
    await page.getByRole('alert').waitFor()
    await checkAccessibility(page, 'a rejected key')
    await visitor.signIn(key)

    async function checkPage(path: string, selector: string) {
      await visitor.open(path)
      await page.locator(selector).first().waitFor()
      await checkAccessibility(page, path)
    }
    /** Opens a dialog with the keyboard and closes it with Escape, which must return the focus to the button. */
    async function checkDialog(trigger: string, confirmLabel?: string) {
      const button = page.getByRole('button', { name: trigger }).first()
      await button.focus()
      await page.keyboard.press('Enter')
      const dialog = page.getByRole('dialog')
      await dialog.waitFor()
      await checkAccessibility(page, `the dialog of ${trigger}`)
      if (confirmLabel !== undefined) {
        await dialog.getByRole('button', { name: confirmLabel }).click()
        await dialog.getByRole('button', { name: 'Done' }).waitFor()
        await checkAccessibility(page, `the dialog after ${confirmLabel}`)
      }
      await page.keyboard.press('Escape')
      await dialog.waitFor({ state: 'detached' })
      await eventuallyHasFocus(button)
    }

    await checkPage('/prompts', '.sparkline')
    await checkPage('/prompts?q=nothing', '.empty-state')
    await checkPage(`/prompts/${prompt.publicId}`, '.chart-marker')
    await page.getByRole('button', { name: 'Answer in three sentences' }).click()
    await page.locator('.diff').waitFor()
    await checkAccessibility(page, 'an open entry')
    await checkPage(`/prompts/${prompt.publicId}/signals`, '.metadata')
    await page.locator('summary').first().click()
    await checkDialog('Delete signal')
    await checkPage('/usage', '[role=meter]')
    await checkPage('/keys', '.key-name')
    await checkDialog('New key')
    await checkDialog('Rotate test', 'Rotate key')
    await checkDialog('Revoke test')
    await checkPage('/repositories', '.repository-name')
    await checkDialog('Connect a repository')
    await checkPage(`/repositories/${scenario.repository.id}`, '.delivery-event')
    await checkDialog('Rotate secret', 'Rotate secret')
    await checkDialog('Disconnect')
    visitor.expectErrors('404 GET /api/v1/prompts/none')
    await checkPage('/prompts/none', '.empty-state')
  })

  test('axe finds no serious problem on the pages of alerts and regressions, at 375 px and 1280 px', async (t) => {
    const { scenario, prompt } = await createChangedPrompt(service)
    const { key, organisation } = scenario.tenant
    service.judge.touch(organisation.id, prompt.id)
    await service.judge.round()
    const [regression] = await service.store.regressions.ofPrompt(prompt)
    const [active, disabled] = [await addAlert(service, organisation.id), await addAlert(service, organisation.id)]
    for (const state of ['pending', 'sent', 'failed', 'cancelled']) {
      await addDelivery(service, active, { state, response: 'ok', status: 500, error: 'No.', finished_at: service.now })
    }
    await service.store.alerts.disable(disabled, 'The receiver responded with 410.', service.now)
    const visitor = await suite.visit(t, { key })
    const { page } = visitor
    for (const width of [375, 1_280]) {
      await page.setViewportSize({ width, height: 800 })
      const check = async (what: string) => {
        await checkAccessibility(page, `${what} at ${width} px`)
        const scrollWidth = await page.evaluate(() => document.documentElement.scrollWidth)
        assert.ok(scrollWidth <= width, `${what} is ${scrollWidth} px wide in a window of ${width} px`)
      }
      const checkPage = async (path: string, selector: string) => {
        await visitor.open(path)
        await page.locator(selector).first().waitFor()
        await check(path)
      }
      const checkDialog = async (trigger: string) => {
        await page.getByRole('button', { name: trigger, exact: true }).click()
        await page.getByRole('dialog').waitFor()
        await check(`the dialog of ${trigger}`)
      }
      await checkPage('/alerts', '.alert-event')
      await checkDialog('New alert')
      await checkPage(`/alerts/${disabled.publicId}`, '.notice.bad')
      await checkPage(`/alerts/${active.publicId}`, '.alert-event')
      await page.getByRole('button', { name: 'Send a test' }).click()
      await page.locator('[role=status] .notice').waitFor()
      await check('the result of a test')
      await checkDialog('Edit')
      await page.keyboard.press('Escape')
      await checkDialog('Rotate secret')
      await page.getByRole('dialog').getByRole('button', { name: 'Rotate secret' }).click()
      await page.getByRole('dialog').getByRole('button', { name: 'Done' }).click()
      await page.getByRole('button', { name: 'Close anyway' }).waitFor()
      await check('the question before a secret is lost')
      await checkPage(`/prompts/${prompt.publicId}/regressions/${regression?.id}`, '.regression-history')
      await checkDialog('Dismiss')
      await checkPage(`/prompts/${prompt.publicId}`, '.open-regressions')
      await checkPage('/prompts', '.regression-link')
    }
  })

  test('the whole console works with the keyboard alone, and the focus is always visible', async (t) => {
    const { scenario } = await createChangedPrompt(service)
    const visitor = await suite.visit(t)
    const { page } = visitor
    const { keyboard } = page
    const button = (name: string) => page.getByRole('button', { name, exact: true })

    await eventuallyHasFocus(page.getByLabel('API key'))
    await keyboard.type(scenario.tenant.key)
    await tabTo(page, button('Sign in'))
    await keyboard.press('Space')
    await tabTo(page, page.getByRole('link', { name: 'Skip to content' }))
    await keyboard.press('Enter')
    await eventuallyHasFocus(page.locator('#main'))

    await tabTo(page, page.getByRole('link', { name: 'prompts/p.md' }))
    await keyboard.press('Enter')
    await page.getByRole('heading', { name: 'prompts/p.md' }).waitFor()
    await tabTo(page, button('90 days'))
    await keyboard.press('Space')
    await tabTo(page, button('Merged'))
    await keyboard.press('Enter')
    await eventually(() => assert.match(visitor.path, /range=quarter&action=pr_merged$/))
    const entry = button('Answer in three sentences')
    await tabTo(page, entry)
    const highlighted = page.locator('.chart-marker[data-highlighted="true"]')
    assert.equal(await highlighted.count(), 1, 'the chart highlights the focused entry')
    await keyboard.press('Enter')
    await page.locator('.diff').waitFor()
    await eventuallyHasFocus(entry)

    await tabTo(page, page.getByRole('link', { name: 'Keys' }), 'Shift+Tab')
    await keyboard.press('Enter')
    await page.getByRole('heading', { name: 'Keys' }).waitFor()
    await tabTo(page, button('New key'))
    await keyboard.press('Enter')
    await eventuallyHasFocus(page.getByLabel('Name'))
    await keyboard.type('By keyboard')
    await tabTo(page, page.getByRole('radio', { name: 'standard' }))
    await keyboard.press('ArrowDown')
    await tabTo(page, button('Create key'))
    await keyboard.press('Enter')
    const created = page.getByRole('dialog', { name: 'Key created' })
    await created.waitFor()
    await tabTo(page, created.getByRole('button', { name: 'Done' }))
    await keyboard.press('Escape')
    await created.waitFor({ state: 'detached' })
    await eventuallyHasFocus(button('New key'))
    const row = page.locator('tbody tr').filter({ hasText: 'By keyboard' })
    assert.match(await row.innerText(), /admin/)

    await tabTo(page, row.getByRole('button', { name: 'Revoke By keyboard' }))
    await keyboard.press('Enter')
    await eventuallyHasFocus(button('Cancel'))
    await tabTo(page, button('Revoke key'))
    await keyboard.press('Space')
    await row.waitFor({ state: 'detached' })
    await tabTo(page, button('Sign out'), 'Shift+Tab')
    await keyboard.press('Enter')
    await page.getByLabel('API key').waitFor()
  })
})
