import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Page } from 'playwright-core'
import type { Document } from '../../server/src/http/docs/openapi-document.ts'
import { documentedOperations } from '../../testing/operations.ts'
import { checkAccessibility, looks } from './support/accessibility.ts'
import { inBrowser } from './support/browser.ts'

const hostile = '<img src=x onerror="window.__pwned=1"><script>window.__pwned=1</script>\u202e'

/** The part of the page about an operation. */
function operation(page: Page, id: string) {
  const article = page.locator(`article[data-operation="${id}"]`)
  return {
    article,
    result: article.locator('.result'),
    field: (name: string) => article.locator(`[id="${id}-${name}"]`),
    send: () => article.getByRole('button', { name: 'Send' }).click(),
    async open() {
      await article.locator('.try > summary').click()
      await article.locator('.try > div > :is(form, p)').first().waitFor()
      await article.getByText('Loading…').waitFor({ state: 'detached' })
    },
  }
}

// Slow: loads a page with every operation for each test.
inBrowser('The API reference', (suite) => {
  const { service } = suite

  test('every operation has a form with a field for each of its parameters and its body', async (t) => {
    const tenant = await service.tenant('free', 'admin')
    const visitor = await suite.visit(t, { at: '/docs', key: tenant.key })
    const described: Document = (await service.app.inject('/openapi.json')).json()
    const { page } = visitor
    await page.locator('.try').first().waitFor()
    // Opening each by its summary would take a click for each of them.
    await page.evaluate(() => {
      for (const details of document.querySelectorAll<HTMLDetailsElement>('.try')) details.open = true
    })
    await page.waitForFunction(() => document.querySelectorAll('.try:not(:has(form))').length === 0)
    const shown = await page.evaluate(() =>
      [...document.querySelectorAll<HTMLElement>('article[data-operation]')].map((article) => ({
        id: article.dataset.operation,
        fields: [...article.querySelectorAll('form [id]')].map(({ id }) => id),
        buttons: [...article.querySelectorAll('form button')].map(({ textContent }) => textContent),
      })),
    )
    for (const { operation: documented } of documentedOperations(described)) {
      const { operationId: id, parameters = [], requestBody } = documented
      const names = parameters.map(({ in: place, name }) => `${place}-${name}`)
      const expected = [...names, ...(requestBody === undefined ? [] : ['body'])].map((name) => `${id}-${name}`)
      const { fields, buttons } = shown.find((each) => each.id === id) ?? assert.fail(id)
      assert.deepEqual(fields.filter((field) => expected.includes(field)).sort(), expected.sort(), id)
      assert.equal(fields.includes(`${id}-body`), requestBody !== undefined, id)
      assert.ok(buttons.includes('Send'), id)
    }
  })

  test('a GET and a POST are sent with the session, and the response is shown with status, time and body', async (t) => {
    const tenant = await service.tenant('free', 'admin')
    const visitor = await suite.visit(t, { at: '/docs', key: tenant.key })
    const { page } = visitor
    const list = operation(page, 'listPrompts')
    await list.open()
    await list.article.getByText('key “test”').waitFor()
    await list.field('query-limit').fill('1')
    await list.send()
    await list.result.getByText(/^200 OK/).waitFor()
    assert.match(await list.result.innerText(), /in [\d,]+ ms · application\/json/)
    assert.ok((await list.result.locator('pre').innerText()).includes(`"id": "${tenant.prompt.publicId}"`))

    const create = operation(page, 'createSignal')
    await create.open()
    await create.send()
    assert.equal(await create.result.innerText(), '', 'a required field is empty')
    await create.field('path-prompt_id').fill(tenant.prompt.publicId)
    await create.field('body').fill('{"value": "negative", "comment": "From the reference"}')
    await create.send()
    await create.result.getByText(/^201/).waitFor()
    const { data } = await (await suite.request(tenant.key, `/prompts/${tenant.prompt.publicId}/signals`)).json()
    assert.deepEqual([data.length, data[0].comment], [1, 'From the reference'])

    visitor.expectErrors(`422 POST /api/v1/prompts/${tenant.prompt.publicId}/signals`)
    await create.field('body').fill('{"value": "maybe"}')
    await create.send()
    await create.result.getByText('validation_error').waitFor()
    await create.field('path-prompt_id').fill('..')
    await create.send()
    await create.result.getByText('prompt_id cannot be ..').waitFor()
  })

  test('a destructive operation is sent only after confirmation', async (t) => {
    const tenant = await service.tenant('free', 'admin')
    const visitor = await suite.visit(t, { at: '/docs', key: tenant.key })
    const { page } = visitor
    const remove = operation(page, 'deletePrompt')
    await remove.open()
    await remove.field('path-prompt_id').fill(tenant.prompt.publicId)
    await remove.send()
    const dialog = page.getByRole('dialog', { name: 'Delete a prompt in Acme?' })
    await dialog.getByText(`DELETE /api/v1/prompts/${tenant.prompt.publicId}`).waitFor()
    // Cancel has the focus.
    await page.keyboard.press('Enter')
    await dialog.waitFor({ state: 'detached' })
    assert.equal((await suite.request(tenant.key, `/prompts/${tenant.prompt.publicId}`)).status, 200)
    await remove.send()
    await dialog.getByRole('button', { name: 'Delete a prompt' }).click()
    await remove.result.getByText(/^204/).waitFor()
    assert.equal((await suite.request(tenant.key, `/prompts/${tenant.prompt.publicId}`)).status, 404)
  })

  test('a script in a response is shown as text and not run, and a long response is cut', async (t) => {
    const tenant = await service.tenant('business', 'admin')
    await tenant.signal({ value: 'positive', comment: hostile.slice(0, -1), metadata: { hostile } })
    // The policy would hide a mistake, so this test runs without it.
    const visitor = await suite.visit(t, { at: '/docs', key: tenant.key, bypassCSP: true })
    const { page } = visitor
    const list = operation(page, 'listSignals')
    await list.open()
    await list.field('path-prompt_id').fill(tenant.prompt.publicId)
    await list.send()
    await list.result.getByText(/^200/).waitFor()
    const text = await list.result.locator('pre').innerText()
    assert.ok(text.includes('<script>window.__pwned=1</script>'), text)
    assert.ok(text.includes('\\u202e') && !text.includes('\u202e'), text)
    assert.equal(await page.evaluate('window.__pwned'), undefined)
    assert.equal(await list.result.locator('img, script').count(), 0)

    const large = { text: 'x'.repeat(16_000) }
    for (let i = 0; i < 8; i++) await tenant.signal({ value: 'positive', metadata: large })
    await list.send()
    await list.result.getByText('Cut after 100,000 characters.').waitFor()
    assert.equal((await list.result.locator('pre').textContent())?.length, 100_000)
  })

  test('signed out, the form says so and links to the sign-in, and public operations work', async (t) => {
    const visitor = await suite.visit(t)
    await visitor.open('/docs')
    const { page } = visitor
    const list = operation(page, 'listPrompts')
    await list.open()
    await list.article.getByText('You are signed out.').waitFor()
    const link = list.article.getByRole('link', { name: 'Sign in to the console' })
    assert.equal(await link.getAttribute('href'), '/sign-in')
    assert.equal(await list.article.getByRole('button', { name: 'Send' }).count(), 0)
    const health = operation(page, 'getHealth')
    await health.open()
    await health.send()
    await health.result.getByText(/^200/).waitFor()
  })

  test('examples can be copied, operations can be found by path, and a link leads back to the console', async (t) => {
    const tenant = await service.tenant()
    const permissions = ['clipboard-read', 'clipboard-write']
    const visitor = await suite.visit(t, { at: '/docs', key: tenant.key, permissions })
    const { page } = visitor
    const { article } = operation(page, 'getUsage')
    await article.getByRole('button', { name: 'Copy' }).first().click()
    await article.getByText('Copied').waitFor()
    assert.match(await page.evaluate(() => navigator.clipboard.readText()), /^curl "\$BASE_URL"\/api\/v1\/usage/)
    assert.equal(await page.locator('pre').count(), await page.getByRole('button', { name: 'Copy' }).count())

    const nav = page.getByRole('navigation', { name: 'Contents' })
    await nav.getByLabel('Find an operation').fill('signals/erase/prev')
    await nav.getByText('1 found').waitFor()
    assert.deepEqual(await nav.locator('li:visible').allInnerTexts(), [
      'Count the signals that an erasure would remove',
    ])
    await page.getByRole('link', { name: 'Back to the console' }).click()
    await page.getByRole('heading', { name: 'Prompts' }).waitFor()
  })

  test('the reference is accessible, and fits a phone and a desktop', async (t) => {
    const tenant = await service.tenant('free', 'admin')
    // axe builds elements from HTML, which the policy forbids.
    const visitor = await suite.visit(t, { at: '/docs', key: tenant.key, bypassCSP: true })
    const { page } = visitor
    const { open, send, result } = operation(page, 'getUsage')
    await open()
    await send()
    await result.locator('pre').waitFor()
    await operation(page, 'createSignal').open()
    for (const { width } of looks) {
      await page.setViewportSize({ width, height: 800 })
      const scrollWidth = await page.evaluate(() => document.documentElement.scrollWidth)
      assert.ok(scrollWidth <= width, `/docs is ${scrollWidth} px wide in a window of ${width} px`)
    }
    // All articles come from the same code, and axe takes a minute for several hundred of them.
    await page.evaluate(() => {
      const others = [...document.querySelectorAll('article')].filter((_, i) => i % 32 !== 0)
      for (const article of others) if (article.querySelector('details[open]') === null) article.remove()
    })
    for (const { width, theme } of looks) {
      await page.setViewportSize({ width, height: 800 })
      await checkAccessibility(page, `/docs at ${width} px`, [theme])
    }
  })

  test('without JavaScript, the reference is complete and has no buttons', async (t) => {
    const { page } = await suite.visit(t, { javaScriptEnabled: false, at: '/docs' })
    assert.equal(await page.locator('.try').count(), 0)
    assert.equal(await page.getByRole('button').count(), 0)
    await page.getByRole('heading', { name: 'Create a signal', exact: true }).waitFor()
  })
})
