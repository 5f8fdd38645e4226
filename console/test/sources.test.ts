import assert from 'node:assert/strict'
import { test } from 'node:test'
import { payloads } from '../../testing/payloads/sources/index.ts'
import { signedHeaders } from '../../testing/sources.ts'
import { inBrowser } from './support/browser.ts'

inBrowser('The pages of sources', (suite) => {
  const { service } = suite

  test('a webhook is set up: its secret is shown once, and its page shows what arrived and why something was rejected', async (t) => {
    const { key, prompt } = await service.tenant('free', 'admin')
    const visitor = await suite.visit(t, { at: '/sources', key, permissions: ['clipboard-read', 'clipboard-write'] })
    const { page } = visitor
    await page.getByRole('heading', { name: 'No sources yet' }).waitFor()
    await page.getByRole('button', { name: 'New source' }).click()
    const form = page.getByRole('dialog', { name: 'New source' })
    await form.getByLabel('Name').fill('Support chat')
    await form.getByLabel('Prompt', { exact: true }).fill(prompt.name)
    await form.getByLabel('Path of the value').fill('$..rating')
    await form.getByLabel('Path of the ID').fill('$.id')
    visitor.expectErrors('422 POST /api/v1/sources')
    await form.getByRole('button', { name: 'Add source' }).click()
    await form.getByRole('alert').filter({ hasText: 'must be a JSONPath of one value' }).waitFor()
    await form.getByLabel('Path of the value').fill('$.rating')
    await form.getByRole('button', { name: 'Add source' }).click()

    const added = page.getByRole('dialog', { name: 'Source added' })
    const secret = await added.getByLabel('Secret', { exact: true }).inputValue()
    const url = await added.getByLabel('URL', { exact: true }).inputValue()
    await added.getByText('X-Promptledger-Signature').waitFor()
    await added.getByRole('button', { name: 'Copy Secret' }).click()
    await added.getByRole('button', { name: 'Done' }).click()
    await page.getByText('Waiting for the first event.').waitFor()
    assert.match(visitor.path, /^\/sources\/src_\w{24}$/)
    assert.ok(!(await page.content()).includes(secret))

    const body = JSON.stringify([payloads.webhook, { ...(payloads.webhook as object), id: 'fb-2', rating: 'meh' }])
    const sent = await service.app.inject({
      method: 'POST',
      url: new URL(url).pathname,
      headers: { 'content-type': 'application/json', ...signedHeaders('webhook', body, service.now, secret) },
      payload: body,
    })
    assert.partialDeepStrictEqual(sent.json().data, { recorded: 1, rejected: 1 })
    await page.getByText('the value "meh" is not known').waitFor()
    await page.getByRole('link', { name: 'Sources' }).first().click()
    await page.getByRole('row').filter({ hasText: 'Support chat' }).filter({ hasText: 'Any webhook' }).waitFor()
  })

  test('a CSV file is previewed before it is recorded, and counts once however often it is uploaded', async (t) => {
    const tenant = await service.tenant('free', 'admin')
    const { page } = await suite.visit(t, { at: '/sources?upload=1', key: tenant.key })
    const dialog = page.getByRole('dialog', { name: 'Upload a CSV file' })
    const date = new Date(service.now - 3 * 86_400_000).toISOString().slice(0, 10)
    const lines = [
      'rating;message id;remark;occurred_at',
      `up;m-1;"Kind; ""very"" kind";${date}`,
      `down;m-2;"two\nlines";${date} 10:00:00`,
      'meh;m-3;;',
    ]
    const file = { name: 'votes.csv', mimeType: 'text/csv', buffer: Buffer.from(`\uFEFF${lines.join('\r\n')}`) }
    await dialog.getByLabel('File').setInputFiles(file)
    await dialog.getByLabel('Prompt', { exact: true }).fill(tenant.prompt.name)
    await dialog.getByText('2 of 3 rows can be recorded.').waitFor()
    await dialog.getByText('Row 4: The value “meh” is not known.').waitFor()
    await dialog.getByRole('cell', { name: 'Kind; "very" kind' }).waitFor()
    for (let uploads = 0; uploads < 2; uploads++) {
      await dialog.getByLabel('File').setInputFiles(file)
      await dialog.getByRole('button', { name: 'Record 2 signals' }).click()
      await dialog.getByText('2 signals are recorded.').waitFor()
    }
    assert.equal(await tenant.used(), 2)
    const signals = await service.app.inject({ url: `${tenant.path}/signals`, headers: tenant.headers })
    assert.deepEqual(
      signals
        .json()
        .data.map(({ value, subject, comment, occurred_at }: Record<string, string>) => [
          value,
          subject,
          comment,
          occurred_at,
        ]),
      [
        ['negative', 'm-2', 'two\nlines', `${date}T10:00:00.000Z`],
        ['positive', 'm-1', 'Kind; "very" kind', `${date}T00:00:00.000Z`],
      ],
    )
  })

  test('Slack needs its own secret: its page says so until it is set', async (t) => {
    const { key, prompt } = await service.tenant('free', 'admin')
    const { page } = await suite.visit(t, { at: '/sources?add=1', key })
    const form = page.getByRole('dialog', { name: 'New source' })
    await form.getByLabel('Name').fill('Bot')
    await form.getByLabel('Product').selectOption('slack')
    await form.getByLabel('Prompt', { exact: true }).fill(prompt.name)
    await form.getByRole('button', { name: 'Add source' }).click()
    await page.getByText('Requests are rejected.').waitFor()
    await page.getByText('Event Subscriptions').waitFor()
    await page.getByRole('button', { name: 'Edit' }).click()
    const edit = page.getByRole('dialog', { name: 'Edit source' })
    await edit.getByLabel('Signing secret').fill('8f742231b10e8888abcd99yyyzzz85a5')
    await edit.getByRole('button', { name: 'Save' }).click()
    await page.getByText('Waiting for the first event.').waitFor()
    await page.getByRole('button', { name: 'Remove' }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'Remove' }).click()
    await page.getByRole('heading', { name: 'No sources yet' }).waitFor()
  })
})
