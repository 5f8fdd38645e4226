import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Page } from 'playwright-core'
import { operator } from '../../server/src/domain/access/audit.ts'
import { eventually } from '../../testing/eventually.ts'
import type { Tenant } from '../../testing/service.ts'
import { checkAccessibility } from './support/accessibility.ts'
import { inBrowser } from './support/browser.ts'
import type { Visitor } from './support/visitor.ts'

const hour = 3_600_000

inBrowser('When something goes wrong', (suite) => {
  const { service } = suite

  /** From now on, no request reaches the service. Returns what ends that. */
  async function cutOff(visitor: Visitor): Promise<() => Promise<void>> {
    visitor.expectFailures('net::ERR_CONNECTION_REFUSED')
    const urls = /\/(api\/v1|healthz)/
    await visitor.page.route(urls, (route) => route.abort('connectionrefused'))
    return () => visitor.page.unroute(urls)
  }

  const banner = (page: Page) => page.getByRole('alert').filter({ hasText: 'Cannot reach the server.' })

  test('while the server is away, the page keeps what it shows, and it recovers by itself', async (t) => {
    const { key, prompt } = await service.tenant()
    const visitor = await suite.visit(t, { at: '/prompts', key })
    const { page } = visitor
    const link = page.getByRole('link', { name: prompt.name })
    await link.waitFor()
    const restore = await cutOff(visitor)
    await page.getByRole('columnheader', { name: 'Prompt' }).getByRole('button').click()
    await banner(page).waitFor()
    assert.ok(await link.isVisible(), 'the list stays')
    // Until it has faded in, its contrast is lower.
    await banner(page).evaluate(async (element) => {
      await Promise.all(element.getAnimations().map(({ finished }) => finished))
    })
    await checkAccessibility(page, 'the banner')
    await restore()
    await banner(page).waitFor({ state: 'detached' })
  })

  test('Retry now asks at once, also when the next attempt is far away', async (t) => {
    const { key, prompt } = await service.tenant()
    const visitor = await suite.visit(t, { at: '/usage', key, isLast: true })
    const { page } = visitor
    await page.getByRole('meter').waitFor()
    await page.clock.install({ time: suite.time() })
    const restore = await cutOff(visitor)
    await page.getByRole('link', { name: 'Prompts', exact: true }).click()
    await banner(page).waitFor()
    // While the clock stands still, the page makes no attempt of its own, however long the click takes.
    await page.clock.pauseAt(suite.time() + hour)
    // One that is under way fails before this request does.
    await page.evaluate(() => fetch('/healthz').catch(() => {}))
    await restore()
    const asked = page.waitForRequest(/\/healthz$/)
    await banner(page).getByRole('button', { name: 'Retry now' }).click()
    await asked
    await page.clock.resume()
    await page.getByRole('link', { name: prompt.name }).first().waitFor()
    await banner(page).waitFor({ state: 'detached' })
  })

  test('an action while the server is away fails with a message, and what was entered stays', async (t) => {
    const tenant = await service.tenant('free', 'admin')
    const visitor = await suite.visit(t, { at: '/keys', key: tenant.key })
    const { page } = visitor
    await page.getByRole('button', { name: 'New key' }).click()
    const form = page.getByRole('dialog', { name: 'New key' })
    await form.getByLabel('Name').fill('For the shop')
    const restore = await cutOff(visitor)
    await form.getByRole('button', { name: 'Create key' }).click()
    const message = 'The server did not respond, so this may or may not have been done. Check before you try again.'
    await form.getByText(message).waitFor()
    assert.equal(await form.getByLabel('Name').inputValue(), 'For the shop')
    await restore()
    await form.getByRole('button', { name: 'Create key' }).click()
    await page.getByRole('dialog', { name: 'Key created' }).waitFor()
  })

  test('an overloaded service is named, and the request is retried until it succeeds', async (t) => {
    const { key, prompt } = await service.tenant()
    const visitor = await suite.visit(t, { at: '/usage', key })
    const { page } = visitor
    await page.getByRole('meter').waitFor()
    visitor.expectErrors('500 GET /api/v1/prompts')
    const list = /\/api\/v1\/prompts\?/
    const message = 'The service is overloaded. Retry in a few seconds.'
    await page.route(list, (route) =>
      route.fulfill({
        status: 500,
        headers: { 'retry-after': '1' },
        json: { error: { code: 'internal_error', message } },
      }),
    )
    await page.getByRole('link', { name: 'Prompts', exact: true }).click()
    const banner = page.getByRole('alert').filter({ hasText: 'The service is overloaded.' })
    await banner.waitFor()
    await page.unroute(list)
    await page.getByRole('link', { name: prompt.name }).first().waitFor({ timeout: 20_000 })
    await banner.waitFor({ state: 'detached' })
  })

  test('data that fails to refresh stays on the page', async (t) => {
    const { key, prompt } = await service.tenant()
    const visitor = await suite.visit(t, { at: `/prompts/${prompt.publicId}`, key, isLast: true })
    const { page } = visitor
    const heading = page.getByRole('heading', { name: prompt.name })
    await heading.waitFor()
    const path = `/api/v1/prompts/${prompt.publicId}`
    visitor.expectErrors(`422 GET ${path}`, `404 GET ${path}/live`)
    let failures = 0
    await page.route(`**${path}`, (route) => {
      failures++
      return route.fulfill({ status: 422, json: { error: { code: 'validation_error', message: 'No.' } } })
    })
    await page.clock.install({ time: suite.time() + 60_000 })
    await page.evaluate(() => document.dispatchEvent(new Event('visibilitychange', { bubbles: true })))
    await eventually(() => assert.equal(failures, 1))
    await page.evaluate(() => new Promise(requestAnimationFrame))
    assert.ok(await heading.isVisible())
  })

  test('the sign-in form says why the session ended', async (t) => {
    const tenant = await service.tenant('free', 'admin')
    const { organisation } = tenant
    const status = (page: Page) => page.getByRole('status')
    const visitUsage = async (key: string) => {
      const visitor = await suite.visit(t, { at: '/usage', key })
      visitor.expectEndOfSession()
      await visitor.page.getByRole('meter').waitFor()
      return visitor
    }
    const leave = async (visitor: Visitor) => {
      await visitor.page.getByRole('link', { name: 'Prompts', exact: true }).click()
      await visitor.page.getByLabel('API key').waitFor()
    }

    const revoked = await visitUsage(await service.key(organisation, 'standard'))
    await revokeAllKeys(tenant)
    await leave(revoked)
    await status(revoked.page).getByText('The key “test” was revoked. Sign in with another key.').waitFor()
    assert.equal(revoked.path, '/prompts')
    await checkAccessibility(revoked.page, 'the reason')
    await revoked.page.reload()
    await status(revoked.page).getByText('The key of your session was revoked. Sign in with another key.').waitFor()

    const expired = await visitUsage(await service.key(organisation, 'standard', service.now + hour))
    service.now += 2 * hour
    await leave(expired)
    service.now -= 2 * hour
    await status(expired.page).getByText('Your session has expired. Sign in again to continue.').waitFor()

    const elsewhere = await visitUsage(await service.key(organisation, 'standard'))
    const second = await elsewhere.page.context().newPage()
    await second.goto(suite.address)
    await second.getByRole('button', { name: 'Sign out' }).click()
    await second.getByLabel('API key').waitFor()
    assert.equal(await status(second).count(), 0, 'a user who signs out knows why')
    await leave(elsewhere)
    await status(elsewhere.page).getByText('You were signed out: in another window of this browser').waitFor()
    await second.close()

    const stranger = await suite.visit(t)
    await stranger.page.getByLabel('API key').waitFor()
    assert.equal(await status(stranger.page).count(), 0)
  })

  test('an unknown path shows a page that leads back', async (t) => {
    const { key } = await service.tenant()
    const visitor = await suite.visit(t, { key })
    const { page } = visitor
    visitor.expectErrors('404 GET /nothing/here', '404 GET /nothing')
    for (const path of ['/nothing', '/nothing/here', '/prompts/a/b/c/d']) {
      await visitor.open(path)
      await page.getByRole('heading', { name: 'Page not found' }).waitFor()
      assert.equal(visitor.path, path)
    }
    await page.getByRole('link', { name: 'All prompts', exact: true }).click()
    await page.getByRole('heading', { name: 'Prompts' }).first().waitFor()
  })

  test('a component that crashes shows an error page, and the rest of the console still works', async (t) => {
    const { key, prompt } = await service.tenant()
    const visitor = await suite.visit(t, { at: '/usage', key })
    const { page } = visitor
    await page.getByRole('meter').waitFor()
    visitor.allowScriptErrors()
    const list = /\/api\/v1\/prompts\?/
    const pagination = { current_page: 1, total_pages: 1, total_count: 1, per_page: 25 }
    await page.route(list, (route) => route.fulfill({ json: { data: [null], pagination } }))
    await page.getByRole('link', { name: 'Prompts', exact: true }).click()
    const crash = page.getByRole('alert').filter({ hasText: 'This page stopped working' })
    await crash.getByText('TypeError').waitFor()
    await checkAccessibility(page, 'the error page')
    await page.getByRole('link', { name: 'Usage' }).click()
    await page.getByRole('meter').waitFor()
    await page.goBack()
    await crash.waitFor()
    await page.unroute(list)
    await crash.getByRole('button', { name: 'Reload' }).click()
    await page.getByRole('link', { name: prompt.name }).first().waitFor()
  })

  test('a page whose code is gone after an upgrade reloads the console once, and then says what is wrong', async (t) => {
    const tenant = await service.tenant('free', 'admin')
    const visitor = await suite.visit(t, { at: '/usage', key: tenant.key })
    const { page } = visitor
    await page.getByRole('meter').waitFor()
    visitor.allowScriptErrors()
    let loads = 0
    page.on('load', () => loads++)
    const chunk = /\/assets\/on-demand-[^/]+\.js$/
    let isGone = true
    await page.route(chunk, (route) =>
      isGone ? route.fulfill({ status: 200, contentType: 'text/html', body: 'gone' }) : route.continue(),
    )
    await page.getByRole('link', { name: 'Keys' }).click()
    await page.getByRole('alert').filter({ hasText: 'This page stopped working' }).waitFor()
    await eventually(() => assert.equal(loads, 1, 'it reloaded once, not forever'))
    assert.equal(visitor.path, '/keys')
    isGone = false
    await page.getByRole('button', { name: 'Reload' }).click()
    await page.getByRole('heading', { name: 'Keys' }).waitFor()
  })
})

async function revokeAllKeys({ service: { store, now }, organisation }: Tenant): Promise<void> {
  for (const { id } of await store.keys.list(organisation.id)) await store.keys.revoke(id, now, operator)
}
