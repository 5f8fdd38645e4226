import assert from 'node:assert/strict'
import { test } from 'node:test'
import { eventually } from '../../testing/eventually.ts'
import { inBrowser } from './support/browser.ts'
import { eventuallyHasFocus } from './support/keyboard.ts'
import { closeSecret } from './support/secret.ts'
import { rowWith } from './support/table-row.ts'

inBrowser('The keys page', (suite) => {
  const { service } = suite

  test('a new key is shown once, can be copied, and has the chosen role and expiry', async (t) => {
    const tenant = await service.tenant('free', 'admin')
    const { page } = await suite.visit(t, {
      at: '/keys',
      key: tenant.key,
      permissions: ['clipboard-read', 'clipboard-write'],
    })
    await page.getByRole('button', { name: 'New key' }).click()
    const form = page.getByRole('dialog', { name: 'New key' })
    await form.getByLabel('Name').fill('For the shop')
    await form.getByRole('radio', { name: 'ingest' }).check()
    await form.getByLabel('Last day').fill('2099-12-31')
    await form.getByRole('button', { name: 'Create key' }).click()
    const created = page.getByRole('dialog', { name: 'Key created' })
    const secret = await created.getByLabel('Key “For the shop”', { exact: true }).inputValue()
    assert.match(secret, /^plk_\w{49}$/)
    await created.getByRole('button', { name: 'Copy' }).click()
    await created.getByText('Copied').waitFor()
    assert.equal(await page.evaluate(() => navigator.clipboard.readText()), secret)
    await created.getByRole('button', { name: 'Done' }).click()
    await created.waitFor({ state: 'detached' })
    const row = rowWith(page, 'For the shop')
    await row.waitFor()
    const text = await row.innerText()
    for (const part of [secret.slice(-4), 'ingest', 'Active', '31 Dec 2099', 'Never']) {
      assert.ok(text.includes(part), `${part}: ${text}`)
    }
    assert.ok(!(await page.content()).includes(secret))
    assert.equal((await suite.request(secret, '/prompts')).status, 403)
    assert.equal((await tenant.signal({ value: 'positive' }, { authorization: `Bearer ${secret}` })).statusCode, 201)
  })

  test('a signing key can be created, and the list shows how it begins', async (t) => {
    const tenant = await service.tenant('free', 'admin')
    const { page } = await suite.visit(t, { at: '/keys', key: tenant.key })
    await page.getByRole('button', { name: 'New key' }).click()
    const form = page.getByRole('dialog', { name: 'New key' })
    await form.getByLabel('Name').fill('For pages')
    await form.getByRole('radio', { name: 'signing' }).check()
    await form.getByRole('button', { name: 'Create key' }).click()
    const created = page.getByRole('dialog', { name: 'Key created' })
    const secret = await created.getByLabel('Key “For pages”', { exact: true }).inputValue()
    assert.match(secret, /^pls_\w{66}$/)
    await created.getByRole('button', { name: 'Done' }).click()
    await rowWith(page, 'For pages')
      .getByText(`pls_…${secret.slice(-4)}`)
      .waitFor()
  })

  test('a key can be limited to prompts, and the list shows the limit', async (t) => {
    const tenant = await service.tenant('free', 'admin')
    const { page } = await suite.visit(t, { at: '/keys', key: tenant.key })
    await page.getByRole('button', { name: 'New key' }).click()
    const form = page.getByRole('dialog', { name: 'New key' })
    await form.getByLabel('Name').fill('For CI')
    await form.getByRole('radio', { name: 'admin' }).check()
    assert.equal(await form.getByLabel('Prompts', { exact: true }).count(), 0)
    await form.getByRole('radio', { name: 'reader' }).check()
    await form.getByLabel('Prompts', { exact: true }).fill('other/**')
    await form.getByRole('button', { name: 'Create key' }).click()
    const created = page.getByRole('dialog', { name: 'Key created' })
    await created.getByText('Role reader, limited to other/**, never expires.').waitFor()
    const secret = await created.getByLabel('Key “For CI”', { exact: true }).inputValue()
    await closeSecret(created)
    await rowWith(page, 'For CI').getByText('only other/**').waitFor()
    assert.equal((await suite.request(secret, `/prompts/${tenant.prompt.publicId}`)).status, 404)
  })

  test('a new key is not lost by Escape, Close, Back or leaving the page until it is copied', async (t) => {
    const tenant = await service.tenant('free', 'admin')
    const permissions = ['clipboard-read', 'clipboard-write']
    const visitor = await suite.visit(t, { at: '/usage', key: tenant.key, permissions })
    const { page } = visitor
    await page.getByRole('link', { name: 'Keys' }).click()
    await page.getByRole('button', { name: 'New key' }).click()
    await page.getByLabel('Name').fill('Precious')
    await page.getByRole('button', { name: 'Create key' }).click()
    const created = page.getByRole('dialog', { name: 'Key created' })
    const field = created.getByLabel('Key “Precious”', { exact: true })
    const secret = await field.inputValue()
    const question = created.getByText('The key is not copied yet, and it cannot be shown again.')
    const back = created.getByRole('button', { name: 'Back to the key' })
    const attempts = {
      Escape: () => page.keyboard.press('Escape'),
      Close: () => created.getByRole('button', { name: 'Close', exact: true }).click(),
      Done: () => created.getByRole('button', { name: 'Done' }).click(),
      Back: () => page.evaluate(() => window.history.back()),
    }
    for (const [name, attempt] of Object.entries(attempts)) {
      await attempt()
      await question.waitFor()
      await eventuallyHasFocus(back)
      assert.equal(await field.inputValue(), secret, name)
      assert.equal(visitor.path, '/keys', name)
      await back.click()
      await question.waitFor({ state: 'detached' })
    }
    // A second Escape takes the question back. The browser must not close the dialog by itself.
    for (let i = 0; i < 5; i++) await page.keyboard.press('Escape')
    await back.click()
    assert.equal(await field.inputValue(), secret)
    await page.mouse.click(5, 5)
    assert.equal(await field.inputValue(), secret, 'the backdrop')
    const asked = page.waitForEvent('dialog')
    visitor.allowDialogs()
    await page.evaluate(() => setTimeout(() => window.location.reload()))
    assert.equal((await asked).type(), 'beforeunload')
    assert.equal(await field.inputValue(), secret, 'a reload')

    await created.getByRole('button', { name: 'Copy' }).click()
    await created.getByText('Copied').waitFor()
    await page.keyboard.press('Escape')
    await created.waitFor({ state: 'detached' })
    assert.equal(await page.evaluate(() => navigator.clipboard.readText()), secret)
    await page.goBack()
    await eventually(() => assert.equal(visitor.path, '/usage'))
  })

  test('an invalid field is reported by its label in the form', async (t) => {
    const { key } = await service.tenant('free', 'admin')
    const visitor = await suite.visit(t, { at: '/keys', key })
    const form = visitor.page.getByRole('dialog', { name: 'New key' })
    await visitor.page.getByRole('button', { name: 'New key' }).click()
    visitor.expectErrors('422 POST /api/v1/keys')
    await form.getByLabel('Name').fill(' ')
    await form.getByRole('button', { name: 'Create key' }).click()
    await form
      .getByRole('alert')
      .filter({ hasText: /^Name / })
      .waitFor()
  })

  test('a rotated key and its replacement both work during the overlap', async (t) => {
    const tenant = await service.tenant('free', 'admin')
    const old = await service.key(tenant.organisation, 'standard')
    const { page } = await suite.visit(t, { at: '/keys', key: tenant.key })
    await rowWith(page, 'standard').getByRole('button', { name: 'Rotate test' }).click()
    const form = page.getByRole('dialog', { name: 'Rotate “test”' })
    await form.getByText(old.slice(-4)).waitFor()
    await form.getByLabel('Overlap (hours)').fill('2')
    await form.getByRole('button', { name: 'Rotate key' }).click()
    const created = page.getByRole('dialog', { name: 'Key created' })
    await created.getByText('within 2 hours').waitFor()
    const secret = await created.getByLabel('Key “test”', { exact: true }).inputValue()
    await closeSecret(created)
    await eventually(async () => assert.equal(await rowWith(page, 'standard').count(), 2))
    await rowWith(page, old.slice(-4)).getByText('Expires soon').waitFor()
    for (const key of [old, secret]) assert.equal((await suite.request(key, '/prompts')).status, 200)
  })

  test('a key is revoked only after confirmation, and revoking the current key signs out', async (t) => {
    const tenant = await service.tenant('free', 'admin')
    const other = await service.key(tenant.organisation, 'ingest')
    const visitor = await suite.visit(t, { at: '/keys', key: tenant.key })
    const { page } = visitor
    const recordSignal = () => tenant.signal({ value: 'positive' }, { authorization: `Bearer ${other}` })
    const revoke = rowWith(page, 'ingest').getByRole('button', { name: 'Revoke test' })
    const dialog = page.getByRole('dialog', { name: 'Revoke “test”?' })
    await revoke.click()
    assert.ok((await dialog.innerText()).includes(`ending in ${other.slice(-4)}`))
    await page.keyboard.press('Escape')
    await dialog.waitFor({ state: 'detached' })
    assert.equal((await recordSignal()).statusCode, 201)
    await revoke.click()
    await dialog.getByRole('button', { name: 'Revoke key' }).click()
    await eventually(async () => assert.equal(await rowWith(page, 'ingest').count(), 0))
    assert.equal((await recordSignal()).statusCode, 401)
    await page.getByLabel('Show revoked and expired keys (1)').check()
    await rowWith(page, 'ingest').getByText('Revoked').waitFor()
    assert.equal(visitor.path, '/keys?all=1')

    visitor.expectEndOfSession()
    await rowWith(page, 'Current session').getByRole('button', { name: 'Revoke test' }).click()
    await dialog.getByText('You are signed in with this key').waitFor()
    await dialog.getByRole('button', { name: 'Revoke and sign out' }).click()
    await page.getByLabel('API key').waitFor()
    assert.equal((await suite.request(tenant.key, '/prompts')).status, 401)
  })
})
