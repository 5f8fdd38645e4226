import assert from 'node:assert/strict'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { gzipSync } from 'node:zlib'
import { checkAccessibility } from './support/accessibility.ts'
import { inBrowser } from './support/browser.ts'

const kilobyte = 1_024
const maxScriptKilobytes = 160

inBrowser('The console', (suite) => {
  const { service } = suite

  test('the theme follows the system until the user chooses one, and the choice survives a reload; reduced motion follows it too', async (t) => {
    const { key } = await service.tenant()
    const { page } = await suite.visit(t, { key, colorScheme: 'light' })
    const isDark = () =>
      page.evaluate(() => getComputedStyle(document.documentElement).backgroundColor === 'rgb(19, 20, 23)')
    assert.equal(await isDark(), false)
    await page.emulateMedia({ colorScheme: 'dark' })
    assert.equal(await isDark(), true, 'follows the system')
    await page.getByRole('button', { name: 'Switch to light' }).click()
    assert.equal(await isDark(), false)
    await page.emulateMedia({ colorScheme: 'light' })
    await page.getByRole('button', { name: 'Switch to dark' }).click()
    await page.reload()
    await page.getByRole('button', { name: 'Theme: dark' }).waitFor()
    assert.equal(await isDark(), true)
    const loadingAnimation = () =>
      page.evaluate(() => {
        document.body.insertAdjacentHTML('beforeend', '<div class="loading-bar"></div>')
        return getComputedStyle(document.querySelector('.loading-bar') as Element, '::after').animationName
      })
    assert.equal(await loadingAnimation(), 'none')
    await page.emulateMedia({ reducedMotion: 'no-preference' })
    assert.equal(await loadingAnimation(), 'slide')
  })

  test('a failed request shows its message and request ID, and can be retried', async (t) => {
    const { key, prompt } = await service.tenant()
    const visitor = await suite.visit(t, { at: '/usage', key })
    const { page } = visitor
    await page.getByRole('meter').waitFor()
    const prompts = '**/api/v1/prompts?*'
    visitor.expectErrors('422 GET /api/v1/prompts')
    await page.route(prompts, (route) =>
      route.fulfill({
        status: 422,
        headers: { 'x-request-id': 'req-7' },
        json: { error: { code: 'internal_error', message: 'Something went wrong on our side.' } },
      }),
    )
    await page.getByRole('link', { name: 'Prompts', exact: true }).click()
    const alert = page.getByRole('alert')
    await alert.getByText('Something went wrong on our side.').waitFor()
    await alert.getByText('req-7').waitFor()
    await checkAccessibility(page, 'a failed request')
    await page.unroute(prompts)
    await alert.getByRole('button', { name: 'Try again' }).click()
    await page.getByRole('link', { name: prompt.name }).waitFor()
    assert.equal(await alert.count(), 0)
  })

  test('the browser requests the session and the prompts before the scripts are there, and only once', async (t) => {
    const { key, prompt } = await service.tenant()
    const { page } = await suite.visit(t, { at: '/usage', key })
    const preloaded = ['/api/v1/session', '/api/v1/prompts?page=1&q=&sort=regression']
    const requested: string[] = []
    const areRequested = Promise.withResolvers<void>()
    page.on('request', (request) => {
      requested.push(request.url().slice(suite.address.length))
      if (preloaded.every((path) => requested.includes(path))) areRequested.resolve()
    })
    // No script runs before both requests are sent.
    await page.route('**/assets/*.js', async (route) => {
      await areRequested.promise
      await route.continue()
    })
    await page.goto(`${suite.address}/prompts`)
    await page.getByRole('link', { name: prompt.name }).waitFor()
    for (const path of preloaded) assert.equal(requested.filter((each) => each === path).length, 1, path)
  })

  test(`the first view loads at most ${maxScriptKilobytes} KB of compressed JavaScript`, async (t) => {
    const { key, prompt } = await service.tenant()
    const signedIn = await suite.visit(t, { key })
    const session = await signedIn.page.context().storageState()
    for (const [view, cookies, text] of [
      ['sign-in', [], 'API key'],
      ['prompts', session.cookies, prompt.name],
    ] as const) {
      // A new context has an empty cache.
      const context = await suite.browser.newContext({ storageState: { cookies: [...cookies], origins: [] } })
      t.after(() => context.close())
      const page = await context.newPage()
      const startedAt = performance.now()
      await page.goto(suite.address)
      // The set-up has the name too, in a list of options that are hidden.
      await page.locator('label, a').filter({ hasText: text }).first().waitFor()
      t.diagnostic(`cold load of the ${view} view: ${Math.round(performance.now() - startedAt)} ms`)
    }
    const folder = fileURLToPath(new URL('assets/', service.consoleFolder))
    const scripts = readdirSync(folder).filter((name) => name.endsWith('.js'))
    const sizes = scripts.map((name) => gzipSync(readFileSync(join(folder, name))).length)
    const total = sizes.reduce((sum, size) => sum + size, 0) / kilobyte
    t.diagnostic(`JavaScript: ${Math.round(total)} KB compressed`)
    assert.ok(scripts.length > 0)
    assert.ok(total <= maxScriptKilobytes, `${total} KB of JavaScript`)
  })
})
