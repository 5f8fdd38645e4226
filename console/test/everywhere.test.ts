import assert from 'node:assert/strict'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { gzipSync } from 'node:zlib'
import { eventually } from '../../testing/eventually.ts'
import { inPortions, signalOf } from '../../testing/recording.ts'
import { checkAccessibility } from './axe.ts'
import { inBrowser } from './browser.ts'
import { hostileOrganisation } from './hostile.ts'
import { eventuallyHasFocus, tabTo } from './keyboard.ts'
import { changedPrompt } from './scene.ts'

const kilobyte = 1_024

inBrowser('On every page', (surroundings) => {
  const { service } = surroundings

  test('text is text, whoever wrote it: nothing runs, nothing is asked of elsewhere, nothing is too wide', async (t) => {
    const { key, pages } = await hostileOrganisation(service)
    // Without the policy's help: it is there for what slips through, and nothing may.
    const visitor = await surroundings.visit(t, { key, viewport: { width: 390, height: 800 }, bypassCSP: true })
    const { page } = visitor
    for (const { at, shows, open = [], refused = [] } of pages) {
      visitor.expect(...refused)
      await visitor.open(at)
      for (const name of open) await page.locator(name).first().click()
      await eventually(async () => {
        const text = await page.locator('body').innerText()
        for (const part of shows) assert.ok(text.includes(part), `${at} does not show ${part}, but ${text}`)
      })
      assert.equal(await page.evaluate('window.__pwned'), undefined, `something ran on ${at}`)
      const links = await page
        .locator('a')
        .evaluateAll((found) => found.map((link) => (link as HTMLAnchorElement).protocol))
      assert.deepEqual(new Set(links).difference(new Set(['http:', 'https:'])), new Set(), `a link that runs on ${at}`)
      for (const width of [1280, 390]) {
        await page.setViewportSize({ width, height: 800 })
        // The chart follows the width a moment later.
        await eventually(async () => {
          const needed = await page.evaluate(() => document.documentElement.scrollWidth)
          assert.ok(needed <= width, `${at} ${open} needs ${needed} of ${width}`)
        })
      }
    }
  })

  test('the policy stops what would slip through, and the browser tells of it', async (t) => {
    const visitor = await surroundings.visit(t)
    await visitor.page.evaluate(() => {
      const script = document.createElement('script')
      script.textContent = 'window.__pwned = 1'
      const image = document.createElement('img')
      image.src = 'https://elsewhere.example/x.png'
      document.body.append(script, image)
    })
    await eventually(() => {
      const told = visitor.problems.filter((problem) => problem.startsWith('against the policy: '))
      assert.deepEqual(told.sort(), [
        'against the policy: img-src https://elsewhere.example/x.png',
        'against the policy: script-src-elem inline',
      ])
    })
    assert.equal(await visitor.page.evaluate('window.__pwned'), undefined)
    visitor.problems.length = 0
  })

  test('nothing is in the way of whoever cannot see it well, in light and in dark', async (t) => {
    const { scenario, prompt } = await changedPrompt(service)
    const { key, organisation } = scenario.tenant
    const metadata = JSON.stringify({ model: 'small', trace: '4bf92f35' })
    const signal = signalOf(scenario.tenant, { promptId: prompt.id, metadata })
    await service.store.signals.import(inPortions([signal]))
    await service.key(organisation, 'ingest', service.now + 3_600_000)
    await scenario.send(scenario.forge.ping())

    const visitor = await surroundings.visit(t)
    const { page } = visitor
    await checkAccessibility(page, 'signing in')
    visitor.expect('401 POST /api/v1/session')
    await visitor.submit('wrong')
    await page.getByRole('alert').waitFor()
    await checkAccessibility(page, 'a refusal')
    await visitor.signIn(key)

    async function look(at: string, sign: string) {
      await visitor.open(at)
      await page.locator(sign).first().waitFor()
      await checkAccessibility(page, at)
    }
    /** Opens it by keyboard, looks at it, closes it with Escape: then the focus is where it was. */
    async function lookAtDialog(trigger: string, then?: string) {
      const button = page.getByRole('button', { name: trigger }).first()
      await button.focus()
      await page.keyboard.press('Enter')
      const dialog = page.getByRole('dialog')
      await dialog.waitFor()
      await checkAccessibility(page, `the dialog of ${trigger}`)
      if (then !== undefined) {
        await dialog.getByRole('button', { name: then }).click()
        await dialog.getByRole('button', { name: 'Done' }).waitFor()
        await checkAccessibility(page, `what ${then} gives`)
      }
      await page.keyboard.press('Escape')
      await dialog.waitFor({ state: 'detached' })
      await eventuallyHasFocus(button)
    }

    await look('/prompts', '.sparkline')
    await look('/prompts?q=nothing', '.empty')
    await look(`/prompts/${prompt.publicId}`, '.chart-marker')
    await page.getByRole('button', { name: 'Answer in three sentences' }).click()
    await page.locator('.diff').waitFor()
    await checkAccessibility(page, 'an open entry')
    await look(`/prompts/${prompt.publicId}/signals`, '.metadata')
    await page.locator('summary').first().click()
    await lookAtDialog('Take back')
    await look('/usage', '[role=meter]')
    await look('/keys', '.key-table')
    await lookAtDialog('New key')
    await lookAtDialog('Rotate test', 'Rotate the key')
    await lookAtDialog('Revoke test')
    await look('/repositories', '.repository-table')
    await lookAtDialog('Connect a repository')
    await look(`/repositories/${scenario.repository.id}`, '.delivery-table')
    await lookAtDialog('Rotate secret', 'Rotate the secret')
    await lookAtDialog('Disconnect')
    visitor.expect('404 GET /api/v1/prompts/none')
    await look('/prompts/none', '.empty')
  })

  test('a keyboard is enough, and the focus can be seen wherever it goes', async (t) => {
    const { scenario } = await changedPrompt(service)
    const visitor = await surroundings.visit(t)
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
    await eventually(() => assert.match(visitor.place, /range=quarter&action=pr_merged$/))
    const entry = button('Answer in three sentences')
    await tabTo(page, entry)
    assert.equal(await page.locator('.chart-marker[data-pointed="true"]').count(), 1, 'the chart shows where one is')
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
    await tabTo(page, button('Create the key'))
    await keyboard.press('Enter')
    const made = page.getByRole('dialog', { name: 'The key is made' })
    await made.waitFor()
    await tabTo(page, made.getByRole('button', { name: 'Done' }))
    await keyboard.press('Escape')
    await made.waitFor({ state: 'detached' })
    await eventuallyHasFocus(button('New key'))
    const row = page.locator('tbody tr').filter({ hasText: 'By keyboard' })
    assert.match(await row.innerText(), /admin/)

    await tabTo(page, row.getByRole('button', { name: 'Revoke By keyboard' }))
    await keyboard.press('Enter')
    await eventuallyHasFocus(button('Cancel'))
    await tabTo(page, button('Revoke the key'))
    await keyboard.press('Space')
    await row.waitFor({ state: 'detached' })
    await tabTo(page, button('Sign out'), 'Shift+Tab')
    await keyboard.press('Enter')
    await page.getByLabel('API key').waitFor()
  })

  test('it is light or dark as the reader chose, also the next time', async (t) => {
    const { key } = await service.tenant()
    const { page } = await surroundings.visit(t, { key, colorScheme: 'light' })
    const isDark = () =>
      page.evaluate(() => getComputedStyle(document.documentElement).backgroundColor === 'rgb(19, 20, 23)')
    assert.equal(await isDark(), false)
    await page.emulateMedia({ colorScheme: 'dark' })
    assert.equal(await isDark(), true, 'as the system')
    await page.getByRole('button', { name: 'Change to light' }).click()
    assert.equal(await isDark(), false)
    await page.emulateMedia({ colorScheme: 'light' })
    await page.getByRole('button', { name: 'Change to dark' }).click()
    await page.reload()
    await page.getByRole('button', { name: 'Colours: dark' }).waitFor()
    assert.equal(await isDark(), true)
  })

  test('a failure is told in words, and trying again is a way out', async (t) => {
    const { key, prompt } = await service.tenant()
    const visitor = await surroundings.visit(t, { at: '/usage', key })
    const { page } = visitor
    await page.getByRole('meter').waitFor()
    const listing = '**/api/v1/prompts?*'
    visitor.expect('422 GET /api/v1/prompts')
    await page.route(listing, (route) =>
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
    await checkAccessibility(page, 'a failure')
    await page.unroute(listing)
    await alert.getByRole('button', { name: 'Try again' }).click()
    await page.getByRole('link', { name: prompt.name }).waitFor()
    assert.equal(await alert.count(), 0)
  })

  test('the first view comes soon, and of little JavaScript', async (t) => {
    const { key, prompt } = await service.tenant()
    const known = await surroundings.visit(t, { key })
    const session = await known.page.context().storageState()
    for (const [what, cookies, sign] of [
      ['signing in', [], 'API key'],
      ['the prompts', session.cookies, prompt.name],
    ] as const) {
      // What a browser has of another visit, it does not have in a new context.
      const context = await surroundings.browser.newContext({ storageState: { cookies: [...cookies], origins: [] } })
      t.after(() => context.close())
      const page = await context.newPage()
      const began = performance.now()
      await page.goto(surroundings.address)
      await page.getByText(sign).first().waitFor()
      t.diagnostic(`cold load until ${what} can be seen: ${Math.round(performance.now() - began)} ms`)
    }
    const folder = fileURLToPath(new URL('assets/', service.consoleFolder))
    const scripts = readdirSync(folder).filter((name) => name.endsWith('.js'))
    const sizes = scripts.map((name) => gzipSync(readFileSync(join(folder, name))).length)
    const size = sizes.reduce((sum, each) => sum + each, 0) / kilobyte
    t.diagnostic(`JavaScript: ${Math.round(size)} KB compressed`)
    assert.ok(scripts.length > 0)
    assert.ok(size <= 150, `${size} KB of JavaScript`)
  })
})
