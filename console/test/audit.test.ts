import assert from 'node:assert/strict'
import { test } from 'node:test'
import { eventually } from '../../testing/eventually.ts'
import { inBrowser } from './support/browser.ts'
import { rowWith } from './support/table-row.ts'

const hostile = '<img src=x onerror="window.__pwned=1">'

inBrowser('The audit page', (suite) => {
  const { service } = suite

  async function rename(key: string, name: string): Promise<void> {
    const response = await fetch(`${suite.address}/api/v1/organisation`, {
      method: 'PATCH',
      headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
      body: JSON.stringify({ name }),
    })
    assert.equal(response.status, 200)
  }

  test('entries say in words who did what, with links to what was changed and hashes to copy', async (t) => {
    const tenant = await service.tenant('free', 'admin')
    await rename(tenant.key, hostile)
    const visitor = await suite.visit(t, {
      at: '/audit',
      key: tenant.key,
      permissions: ['clipboard-read', 'clipboard-write'],
    })
    const { page } = visitor
    const renamed = rowWith(page, 'Organisation renamed')
    await renamed.waitFor()
    const text = await renamed.innerText()
    for (const part of ['organisation.renamed', 'Acme', hostile, 'test']) assert.ok(text.includes(part), text)
    assert.doesNotMatch(text, /[{}]/, 'details are no JSON')
    assert.equal(await page.evaluate('window.__pwned'), undefined)
    const { data } = await (await suite.request(tenant.key, '/audit?action=organisation.renamed')).json()
    await renamed.getByRole('button', { name: /^Copy the hash of entry/ }).click()
    await eventually(async () => {
      assert.equal(await page.evaluate(() => navigator.clipboard.readText()), data[0].hash)
    })
    const command = await page.getByLabel('Command that verifies the chain', { exact: true }).inputValue()
    assert.match(
      command,
      new RegExp(`^promptledger audit verify --org ${tenant.organisation.id} --head \\d+:[0-9a-f]{64}$`),
    )
    await rowWith(page, 'Prompt created').getByRole('link', { name: 'prompts/a.md' }).click()
    await eventually(() => assert.equal(visitor.path, `/prompts/${tenant.prompt.publicId}`))
  })

  test('filters by action, actor and time are in the URL, and Back undoes them', async (t) => {
    const tenant = await service.tenant('free', 'admin')
    await rename(tenant.key, 'Acme Ltd')
    const visitor = await suite.visit(t, { at: '/audit', key: tenant.key })
    const { page } = visitor
    const rows = page.locator('.audit-table tbody tr')
    // A key, a prompt, a new name and a sign-in.
    await eventually(async () => assert.equal(await rows.count(), 4))
    await page.getByLabel('Action').selectOption('Prompt created')
    await eventually(async () => assert.equal(await rows.count(), 1))
    assert.equal(visitor.path, '/audit?action=prompt.created')
    await page.goBack()
    await eventually(async () => assert.equal(await rows.count(), 4))
    await rowWith(page, 'Key created').getByRole('button', { name: 'Operator (CLI)' }).click()
    await eventually(async () => assert.equal(await rows.count(), 2))
    assert.equal(visitor.path, '/audit?actor=operator')
    await page.reload()
    await eventually(async () => assert.equal(await rows.count(), 2))
    await page.getByRole('button', { name: 'Clear filters' }).click()
    await eventually(async () => assert.equal(await rows.count(), 4))
    await visitor.open('/audit?until=2001-01-01T00:00:00.000Z')
    await page.getByText('No matching entries').waitFor()
  })

  test('a key without the admin role is told why it cannot see the audit log and the settings', async (t) => {
    const tenant = await service.tenant('free', 'reader')
    const visitor = await suite.visit(t, { at: '/audit', key: tenant.key })
    const { page } = visitor
    for (const [path, title] of [
      ['/audit', 'Audit log'],
      ['/settings', 'Settings'],
    ] as const) {
      await visitor.open(path)
      await page.getByRole('heading', { name: title }).waitFor()
      await page.getByText('Only keys with the role admin can see this page.').waitFor()
      assert.equal(await page.getByRole('navigation', { name: 'Main' }).getByText(title).count(), 0)
    }
  })
})
