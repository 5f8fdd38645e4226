import assert from 'node:assert/strict'
import { before, test } from 'node:test'
import { eventually } from '../../testing/eventually.ts'
import { checkAccessibility, checkFits, looks } from './support/accessibility.ts'
import { inBrowser } from './support/browser.ts'
import { createChangedPrompt } from './support/changed-prompt.ts'
import { type Contents, consolePages, createContents } from './support/console-pages.ts'
import { eventuallyHasFocus, tabTo } from './support/keyboard.ts'

/** The buttons that open dialogs, by page; with a second label, the one that leads on to a secret. */
const dialogs: Record<string, [trigger: string, confirm?: string][]> = {
  '/prompts/:prompt/signals': [['Delete signal']],
  '/prompts/:prompt/regressions/:regression': [['Dismiss'], ['Propose a revert']],
  '/trials': [['Try a pull request']],
  '/trials/:trial': [['Change share'], ['Pause'], ['End']],
  '/keys': [['New key'], ['Rotate test', 'Rotate key'], ['Revoke test']],
  '/repositories': [['Connect a repository']],
  '/repositories/:repository': [['Edit'], ['Rotate secret', 'Rotate secret'], ['Disconnect']],
  '/alerts': [['New alert']],
  '/sources': [['New source'], ['Upload CSV']],
  '/sources/:source': [['Edit']],
  '/alerts/:alert': [['Edit'], ['Rotate secret', 'Rotate secret']],
}

// Slow: runs axe on every page and dialog.
inBrowser('Accessibility', (suite) => {
  const { service } = suite

  let contents: Contents
  before(async () => {
    contents = await createContents(service)
  })

  for (const [name, { path, shows, isMissing }] of Object.entries(consolePages)) {
    test(`${name} is accessible in light and dark, and fits a phone and a desktop`, async (t) => {
      const at = path(contents)
      const errors = isMissing ? [`404 GET ${at}`] : []
      const visitor = await suite.visit(t, { at, key: contents.key, errors })
      const { page } = visitor
      // A page adapts to its width without being loaded again.
      for (const { width, theme } of looks) {
        await page.setViewportSize({ width, height: 800 })
        await page.locator(shows).first().waitFor()
        await visitor.settle()
        await checkFits(page, `${name} at ${width} px`)
        await checkAccessibility(page, `${name} at ${width} px`, [theme])
      }
    })
  }

  test('the sign-in page is accessible, also after a rejected key', async (t) => {
    const visitor = await suite.visit(t)
    const { page } = visitor
    visitor.expectErrors('401 POST /api/v1/session')
    await checkAccessibility(page, 'the sign-in page')
    await visitor.submitKey('wrong')
    await page.getByRole('alert').waitFor()
    await page.setViewportSize({ width: 375, height: 800 })
    await checkFits(page, 'a rejected key')
    await checkAccessibility(page, 'a rejected key')
  })

  for (const [path, triggers] of Object.entries(dialogs)) {
    test(`the dialogs of ${path} are accessible and give the focus back`, async (t) => {
      const at = path.replaceAll(/:(\w+)/g, (_, name) => String(contents[name as keyof Contents]))
      const { page } = await suite.visit(t, { at, key: contents.key })
      await page.locator('#main').waitFor()
      const dialog = page.getByRole('dialog')
      for (const [trigger, confirm] of triggers) {
        const button = page.getByRole('button', { name: trigger }).first()
        await button.focus()
        await page.keyboard.press('Enter')
        await dialog.waitFor()
        await checkAccessibility(page, `the dialog of ${trigger}`)
        if (confirm === undefined) {
          await page.keyboard.press('Escape')
        } else {
          await dialog.getByRole('button', { name: confirm }).click()
          await dialog.getByRole('button', { name: 'Done' }).waitFor()
          await checkAccessibility(page, `the dialog after ${confirm}`)
          await page.keyboard.press('Escape')
          await page.setViewportSize({ width: 375, height: 800 })
          await dialog.getByRole('button', { name: 'Close anyway' }).waitFor()
          await checkFits(page, 'the question before a secret is lost')
          await checkAccessibility(page, 'the question before a secret is lost')
          await page.setViewportSize({ width: 1_280, height: 800 })
          await dialog.getByRole('button', { name: 'Close anyway' }).click()
        }
        await dialog.waitFor({ state: 'detached' })
        await eventuallyHasFocus(button)
      }
    })
  }

  test('axe finds no serious problem on a new organisation that is set up, at 375 px and 1280 px', async (t) => {
    const tenant = await service.tenant('free', 'admin')
    await tenant.fillMonth(850)
    const visitor = await suite.visit(t, { key: tenant.key })
    const { page } = visitor
    await page.getByRole('button', { name: 'Create another prompt' }).waitFor()
    for (const { width, theme } of looks) {
      await page.setViewportSize({ width, height: 800 })
      await visitor.open('/prompts')
      await page.getByRole('complementary', { name: 'Monthly limit' }).waitFor()
      await page.getByRole('button', { name: 'Create another prompt' }).click()
      await page.getByLabel('Name of the prompt').waitFor()
      for (const language of ['curl', 'JavaScript', 'Python', 'Go']) {
        await page.getByRole('button', { name: language, exact: true }).click()
        // The others differ in their text.
        if (language === 'curl' || width === 375)
          await checkAccessibility(page, `the ${language} snippet at ${width} px`, [theme])
        const scrollWidth = await page.evaluate(() => document.documentElement.scrollWidth)
        assert.ok(scrollWidth <= width, `the ${language} snippet is ${scrollWidth} px wide in a window of ${width} px`)
      }
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
    // The chart highlights the focused entry. Fails if it highlights several.
    await page.locator('.chart-marker[data-highlighted="true"]').waitFor()
    await keyboard.press('Enter')
    await page.locator('.diff').waitFor()
    await eventuallyHasFocus(page.getByRole('complementary', { name: 'Selected change' }))
    await keyboard.press('Escape')
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
    await tabTo(page, created.getByRole('button', { name: 'Close anyway' }))
    await keyboard.press('Enter')
    await created.waitFor({ state: 'detached' })
    await eventuallyHasFocus(button('New key'))
    const row = page.locator('tbody tr').filter({ hasText: 'By keyboard' })
    assert.match(await row.innerText(), /deploy/)

    await tabTo(page, row.getByRole('button', { name: 'Revoke By keyboard' }))
    await keyboard.press('Enter')
    await eventuallyHasFocus(button('Cancel'))
    await tabTo(page, button('Revoke key'))
    await keyboard.press('Space')
    await row.waitFor({ state: 'detached' })
    visitor.expectEndOfSession()
    await tabTo(page, button('Sign out'), 'Shift+Tab')
    await keyboard.press('Enter')
    await page.getByLabel('API key').waitFor()
  })
})
