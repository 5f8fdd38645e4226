import assert from 'node:assert/strict'
import { test } from 'node:test'
import { addAlert, addDelivery } from '../../testing/alerts.ts'
import { eventually } from '../../testing/eventually.ts'
import { startReceiver } from '../../testing/receiver.ts'
import { inBrowser } from './support/browser.ts'
import { eventuallyHasFocus, tabTo } from './support/keyboard.ts'
import { rowWith } from './support/table-row.ts'

inBrowser('The pages of alerts', (suite) => {
  const { service } = suite

  test('a webhook is added, its secret is shown once, and a test shows what the receiver answered', async (t) => {
    const { key } = await service.tenant('free', 'admin')
    const receiver = await startReceiver((response) => response.writeHead(202).end('<b>Thank you</b>'))
    const visitor = await suite.visit(t, { at: '/alerts', key, permissions: ['clipboard-read', 'clipboard-write'] })
    const { page } = visitor
    await page.getByRole('heading', { name: 'No alerts yet' }).waitFor()
    await page.getByRole('button', { name: 'New alert' }).click()
    const form = page.getByRole('dialog', { name: 'New alert' })
    await form.getByLabel('Name').fill('Support team')
    await form.getByLabel('URL').fill(receiver.url)
    await form.getByLabel('Prompts', { exact: true }).fill('prompts/support/**')
    await form.getByLabel('80% of the monthly limit is used').uncheck()
    await form.getByText('How certain it must be').click()
    await form.getByLabel('Wait before telling (minutes)').fill('60')
    await form.getByRole('button', { name: 'Add alert' }).click()

    const added = page.getByRole('dialog', { name: 'Alert added' })
    const secret = await added.getByLabel('Signing secret', { exact: true }).inputValue()
    assert.match(secret, /^whsec_/)
    await added.getByRole('button', { name: 'Copy' }).click()
    await added.getByText('Copied').waitFor()
    assert.equal(await page.evaluate(() => navigator.clipboard.readText()), secret)
    await page.keyboard.press('Escape')
    await page.getByRole('heading', { name: 'Support team' }).waitFor()
    assert.match(visitor.path, /^\/alerts\/alr_\w{24}$/)
    assert.ok(!(await page.content()).includes(secret))
    await page.getByText('60 minutes and 50 signals').waitFor()

    await page.getByRole('button', { name: 'Send a test' }).click()
    const result = page.getByRole('status')
    await result.getByText('The test was sent.').waitFor()
    assert.match(await result.innerText(), /Response 202 after \d+ ms\.\n<b>Thank you<\/b>/)
    assert.equal(receiver.received.length, 1)
    receiver.respondWith((response) => response.writeHead(500).end())
    await page.getByRole('button', { name: 'Send a test' }).click()
    await result.getByText('The test was not sent.').waitFor()
    await page.getByRole('link', { name: 'Alerts' }).first().click()
    const text = await rowWith(page, 'Support team').innerText()
    for (const part of ['Webhook, 127.0.0.1', 'prompts/support/**', '12 of 14', 'Active', 'None yet']) {
      assert.ok(text.includes(part), `${part}: ${text}`)
    }
  })

  test('the form asks for what the chosen channel needs, and reports errors by its labels', async (t) => {
    const { key } = await service.tenant('free', 'admin')
    const visitor = await suite.visit(t, { at: '/alerts?add=1', key })
    const form = visitor.page.getByRole('dialog', { name: 'New alert' })
    await form.getByLabel('Name').fill('On call')
    const fields = {
      slack: 'Incoming webhook URL',
      teams: 'Workflow URL',
      discord: 'Webhook URL',
      email: 'Email addresses',
      linear: 'Team and API key',
      pagerduty: 'Routing key',
    }
    for (const [channel, label] of Object.entries(fields)) {
      await form.getByLabel('Channel').selectOption(channel)
      assert.equal(await form.getByLabel(label).count(), 1)
    }
    assert.equal(await form.getByLabel('Routing key').getAttribute('type'), 'password')
    visitor.expectErrors('422 POST /api/v1/alerts')
    await form.getByLabel('Routing key').fill('too short')
    await form.getByRole('button', { name: 'Add alert' }).click()
    await form
      .getByRole('alert')
      .filter({ hasText: /^Routing key must be the integration key/ })
      .waitFor()
    await form.getByLabel('Routing key').fill('R'.repeat(32))
    await form.getByRole('button', { name: 'Add alert' }).click()
    await visitor.page.getByRole('heading', { name: 'On call' }).waitFor()
    await visitor.page.getByText('…RRRR').waitFor()
    assert.equal(await visitor.page.getByRole('button', { name: 'Rotate secret' }).count(), 0, 'only webhooks have one')
  })

  test('only CloudEvents can get every signal, and an alert says whether it does', async (t) => {
    const { key, organisation } = await service.tenant('free', 'admin')
    const { publicId } = await addAlert(service, organisation.id, { channel: 'cloudevents' })
    const { page } = await suite.visit(t, { at: `/alerts/${publicId}`, key })
    await page.getByText('Not sent', { exact: true }).waitFor()
    await page.getByRole('button', { name: 'Edit' }).click()
    await page.getByLabel('Every signal, in batches').check()
    await page.getByRole('button', { name: 'Save' }).click()
    await page.getByText('Not sent', { exact: true }).waitFor({ state: 'detached' })
    assert.equal((await service.store.alerts.find(organisation.id, publicId))?.signals, true)
    await page.goto(new URL('/alerts?add=1', page.url()).href)
    await page.getByLabel('Channel').selectOption('slack')
    assert.equal(await page.getByLabel('Every signal, in batches').count(), 0)
  })

  test('a new secret is not lost by closing its dialog: it asks first', async (t) => {
    const { key, organisation } = await service.tenant('free', 'admin')
    const { publicId } = await addAlert(service, organisation.id)
    const { page } = await suite.visit(t, { at: `/alerts/${publicId}`, key })
    const rotate = page.getByRole('button', { name: 'Rotate secret' })
    await rotate.click()
    await page.getByRole('dialog').getByRole('button', { name: 'Rotate secret' }).click()
    const shown = page.getByRole('dialog', { name: 'New signing secret' })
    const secret = await shown.getByLabel('Signing secret', { exact: true }).inputValue()
    await page.keyboard.press('Escape')
    await shown.getByText('The secret is not copied yet,').waitFor()
    assert.equal(await shown.getByLabel('Signing secret', { exact: true }).inputValue(), secret)
    await shown.getByRole('button', { name: 'Back' }).click()
    await shown.getByRole('button', { name: 'Done' }).click()
    await shown.getByRole('button', { name: 'Close anyway' }).click()
    await shown.waitFor({ state: 'detached' })
    await eventuallyHasFocus(rotate)
    await page.getByText('Requests are signed with the new and the old secret until').waitFor()
  })

  test('an alert is edited without its target, disabled, enabled and removed', async (t) => {
    const { key, organisation } = await service.tenant('free', 'admin')
    const alert = await addAlert(service, organisation.id, { name: 'Before', channel: 'slack' })
    const { page } = await suite.visit(t, { at: `/alerts/${alert.publicId}`, key })
    await page.getByRole('button', { name: 'Edit' }).click()
    const form = page.getByRole('dialog', { name: 'Edit alert' })
    await form.getByLabel('Name').fill('After')
    await form.getByLabel('Bot token').fill('xoxb-1-2-abcdefghijkl')
    await form.getByText('How certain it must be').click()
    await form.getByLabel('Repeat every (hours)').fill('24')
    await form.getByRole('button', { name: 'Save' }).click()
    await page.getByRole('heading', { name: 'After' }).waitFor()
    await page.getByText('Every 24 hours').waitFor()
    await page.getByText('Mentioned, with a bot token').waitFor()
    const stored = await service.store.alerts.find(organisation.id, alert.publicId)
    assert.equal(stored?.sealedTarget, alert.sealedTarget)

    await page.getByRole('button', { name: 'Disable' }).click()
    await page.getByText('Disabled by an administrator').waitFor()
    await page.getByRole('button', { name: 'Enable' }).click()
    await page.getByText('Nothing is sent to this alert.').waitFor({ state: 'detached' })

    await page.getByRole('button', { name: 'Remove' }).click()
    const confirm = page.getByRole('dialog', { name: 'Remove this alert?' })
    await confirm.getByText('After').waitFor()
    await confirm.getByRole('button', { name: 'Remove' }).click()
    await page.getByRole('heading', { name: 'No alerts yet' }).waitFor()
    assert.deepEqual(await service.store.alerts.list(organisation.id), [])
  })

  test('the log of deliveries shows state, attempts, response and next attempt, and a failed one is retried', async (t) => {
    const { key, organisation, prompt } = await service.tenant('free', 'admin')
    const alert = await addAlert(service, organisation.id)
    const told = { prompt: { publicId: prompt.publicId, name: prompt.name }, regressionId: 5 }
    const failed = await addDelivery(service, alert, {
      event: 'regression.opened',
      message: JSON.stringify({ event: 'regression.opened', prompts: [told] }),
      state: 'failed',
      attempts: 11,
      status: 500,
      response: 'out of order',
      error: 'The receiver responded with 500 instead of 2xx.',
      finished_at: service.now,
    })
    await addDelivery(service, alert, { attempts: 2, due_at: service.now + 1_500_000, error: 'It timed out.' })
    await addDelivery(service, { organisationId: organisation.id, id: null }, { state: 'sent', finished_at: 1 })
    const visitor = await suite.visit(t, { at: '/alerts', key })
    const { page } = visitor
    const failedRow = page.locator('tr').filter({ hasText: failed })
    await failedRow.waitFor()
    const text = await failedRow.innerText()
    for (const part of ['A change made prompts worse', 'On call', 'Failed', '500', 'out of order', '11']) {
      assert.ok(text.includes(part), `${part}: ${text}`)
    }
    const link = failedRow.getByRole('link', { name: prompt.name })
    assert.equal(await link.getAttribute('href'), `/prompts/${prompt.publicId}/regressions/5`)
    assert.match(await rowWith(page, 'It timed out.').innerText(), /Waiting[\s\S]*Next attempt in 2\d minutes/)
    await rowWith(page, 'Pull request').waitFor()
    assert.equal(await page.getByRole('button', { name: /^Retry delivery/ }).count(), 1)
    await failedRow.getByRole('button', { name: `Retry delivery ${failed}` }).click()
    await failedRow.getByText('Waiting').waitFor()
    assert.equal((await service.store.alertDeliveries.find(organisation.id, failed))?.attempts, 0)
  })

  test('only admins see alerts', async (t) => {
    const { key } = await service.tenant('free', 'standard')
    const { page } = await suite.visit(t, { at: '/alerts', key })
    await page.getByText('Page not found').waitFor()
    assert.equal(await page.getByRole('link', { name: 'Alerts' }).count(), 0)
  })

  test('an alert is added and tested with the keyboard alone', async (t) => {
    const { key } = await service.tenant('free', 'admin')
    const receiver = await startReceiver()
    const { page } = await suite.visit(t, { at: '/alerts', key })
    const { keyboard } = page
    const button = (name: string) => page.getByRole('button', { name, exact: true })
    await tabTo(page, button('New alert'))
    await keyboard.press('Enter')
    await eventuallyHasFocus(page.getByLabel('Name'))
    await keyboard.type('By keyboard')
    await tabTo(page, page.getByLabel('URL'))
    await keyboard.type(receiver.url)
    await tabTo(page, page.getByLabel('A regression is withdrawn'))
    await keyboard.press('Space')
    await tabTo(page, button('Add alert'))
    await keyboard.press('Enter')
    await page.getByRole('dialog', { name: 'Alert added' }).waitFor()
    await keyboard.press('Escape')
    await tabTo(page, button('Close anyway'))
    await keyboard.press('Enter')
    await page.getByRole('heading', { name: 'By keyboard' }).waitFor()
    await tabTo(page, button('Send a test'))
    await keyboard.press('Space')
    await page.getByText('The test was sent.').waitFor()
    await eventually(() => assert.equal(receiver.received.length, 1))
  })
})
