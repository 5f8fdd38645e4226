import assert from 'node:assert/strict'
import { test } from 'node:test'
import { operator } from '../../server/src/domain/access/audit.ts'
import { eventually } from '../../testing/eventually.ts'
import { checkAccessibility, checkFits } from './support/accessibility.ts'
import { inBrowser } from './support/browser.ts'
import { createChangedPrompt } from './support/changed-prompt.ts'
import { eventuallyHasFocus } from './support/keyboard.ts'

const phone = { width: 375, height: 740 }

inBrowser('The layout', (suite) => {
  const { service } = suite

  test('on a phone, a menu has every link, and closes on Escape and on navigation', async (t) => {
    const { key } = await service.tenant('free', 'admin')
    const visitor = await suite.visit(t, { key, viewport: phone })
    const { page } = visitor
    const menu = page.getByRole('button', { name: 'Menu' })
    const links = page.getByRole('navigation', { name: 'Main' }).getByRole('link')
    await menu.waitFor()
    assert.equal(await links.count(), 0)
    await menu.click()
    await eventually(async () => assert.ok((await links.count()) >= 7))
    for (const link of await links.all()) {
      const box = await link.boundingBox()
      assert.ok(
        box !== null && box.x >= 0 && box.x + box.width <= phone.width,
        `${await link.textContent()} is cut off`,
      )
      assert.ok(box.height >= 44, `${await link.textContent()} is too small to touch`)
    }
    await checkFits(page, 'the menu')
    await checkAccessibility(page, 'the menu')
    await links.first().focus()
    await page.keyboard.press('Escape')
    await eventuallyHasFocus(menu)
    assert.equal(await links.count(), 0)
    await menu.click()
    await links.filter({ hasText: 'Usage' }).click()
    await page.getByRole('heading', { name: 'Usage' }).waitFor()
    assert.equal(await links.count(), 0)
  })

  test('the top bar has all links in sight at every width, also beside a long name', async (t) => {
    const { key, organisation } = await service.tenant('free', 'admin')
    const name = 'An organisation with a rather long name'
    await service.store.organisations.rename(organisation.id, name, service.now, operator)
    const { page } = await suite.visit(t, { key })
    const links = page.getByRole('navigation', { name: 'Main' }).getByRole('link')
    for (const width of [1_440, 1_280, 1_121, 1_120, 900, 721]) {
      await page.setViewportSize({ width, height: 700 })
      await links.first().waitFor()
      const boxes = await Promise.all((await links.all()).map((link) => link.boundingBox()))
      assert.ok(
        boxes.every((box) => box !== null && box.x >= 0 && box.x + box.width <= width),
        `${width} px`,
      )
      const signOut = await page.getByRole('button', { name: 'Sign out' }).boundingBox()
      assert.ok(signOut !== null && signOut.x + signOut.width <= width, `${width} px`)
      const overlaps = boxes.some(
        (box) => box !== null && box.x + box.width > signOut.x && box.y < signOut.y + 20 && width > 1_120,
      )
      assert.equal(overlaps, false, `${width} px`)
    }
  })

  test('controls are large enough for fingers on a touch screen', async (t) => {
    const { scenario, prompt } = await createChangedPrompt(service)
    const paths = ['/prompts', `/prompts/${prompt.publicId}`, `/prompts/${prompt.publicId}/signals`, '/keys', '/alerts']
    const visitor = await suite.visit(t, { key: scenario.tenant.key, viewport: phone, hasTouch: true, isMobile: true })
    const { page } = visitor
    for (const path of paths) {
      await visitor.open(path)
      await page.locator('main h1').first().waitFor()
      await page.locator('.loading').first().waitFor({ state: 'detached' })
      const small = await page.evaluate(() => {
        const controls = document.querySelectorAll<HTMLElement>(
          '.button, .icon-button, .text-button, .toggle-group button, input:not([type=checkbox], [type=radio]), select',
        )
        return [...controls]
          .filter((control) => control.checkVisibility() && !control.closest('.visually-hidden'))
          .filter((control) => control.getBoundingClientRect().height < 43.5)
          .map((control) => `${control.outerHTML.slice(0, 100)} ${control.getBoundingClientRect().height}`)
      })
      assert.deepEqual(small, [], path)
      await checkFits(page, path)
    }
  })

  test('on paper, there is the content alone, black on white, in either theme', async (t) => {
    const { scenario, prompt } = await createChangedPrompt(service)
    const at = `/prompts/${prompt.publicId}`
    const { page } = await suite.visit(t, { at, key: scenario.tenant.key, colorScheme: 'dark' })
    await page.locator('.chart-marker').first().waitFor()
    await page.emulateMedia({ media: 'print', colorScheme: 'dark' })
    assert.equal(await page.locator('.top-bar').isVisible(), false)
    assert.equal(await page.locator('main').getByRole('button', { name: 'Copy' }).first().isVisible(), false)
    assert.ok(await page.locator('main svg:not(.lucide)').first().isVisible(), 'the chart')
    assert.ok(await page.getByRole('heading', { name: prompt.name }).isVisible())
    const colours = await page.evaluate(() => {
      const heading = getComputedStyle(document.querySelector('main h1') as Element)
      const link = getComputedStyle(document.querySelector('main a') as Element)
      return { text: heading.color, link: link.color, page: getComputedStyle(document.documentElement).backgroundColor }
    })
    assert.deepEqual(colours, { text: 'rgb(0, 0, 0)', link: 'rgb(0, 0, 0)', page: 'rgba(0, 0, 0, 0)' })
    const pdf = await page.pdf({ format: 'A4' })
    assert.ok(pdf.length > 10_000)
  })
})
