import assert from 'node:assert/strict'
import { test } from 'node:test'
import { operator } from '../../server/src/domain/access/audit.ts'
import { newPrompt } from '../../server/src/domain/prompt.ts'
import { eventually } from '../../testing/eventually.ts'
import type { Tenant } from '../../testing/service.ts'
import { checkAccessibility } from './support/accessibility.ts'
import { inBrowser } from './support/browser.ts'
import { createChangedPrompt } from './support/changed-prompt.ts'
import { eventuallyHasFocus } from './support/keyboard.ts'
import type { Visitor } from './support/visitor.ts'

inBrowser('Navigation', (suite) => {
  const { service } = suite

  async function createPrompts({ organisation }: Tenant, count: number): Promise<void> {
    for (let i = 0; i < count; i++) {
      const name = `prompts/many-${String(i).padStart(2, '0')}.md`
      await service.store.prompts.create(newPrompt(organisation.id, name, service.now), operator)
    }
  }

  /** Goes back step by step. Every step has to lead to the view that was shown before. */
  async function goBackThrough(visitor: Visitor, paths: string[]): Promise<void> {
    for (const path of paths) {
      await visitor.page.goBack()
      await eventually(() => assert.equal(visitor.path, path))
    }
  }

  test('Back undoes sorting, paging and filtering one step at a time, and Forward repeats them', async (t) => {
    const tenant = await service.tenant('free', 'admin')
    await createPrompts(tenant, 30)
    const visitor = await suite.visit(t, { at: '/usage', key: tenant.key })
    const { page } = visitor
    await page.getByRole('link', { name: 'Prompts', exact: true }).click()
    await page.getByRole('columnheader', { name: 'Prompt' }).getByRole('button').click()
    await eventually(() => assert.match(visitor.path, /sort=/))
    const sorted = visitor.path
    await page.getByRole('button', { name: 'Next page' }).click()
    await eventually(() => assert.match(visitor.path, /page=2/))
    const secondPage = visitor.path
    await page.getByRole('navigation', { name: 'Main' }).getByRole('link', { name: 'Keys' }).click()
    await page.getByRole('heading', { name: 'Keys' }).waitFor()

    await goBackThrough(visitor, [secondPage, sorted, '/prompts', '/usage'])
    await page.getByRole('meter').waitFor()
    for (const path of ['/prompts', sorted, secondPage, '/keys']) {
      await page.goForward()
      await eventually(() => assert.equal(visitor.path, path))
    }
    await goBackThrough(visitor, [secondPage])
    await page.reload()
    await page.getByText(/^26–/).waitFor()
  })

  test('typing in a search field is one step, however many keys it takes', async (t) => {
    const tenant = await service.tenant()
    await createPrompts(tenant, 3)
    const visitor = await suite.visit(t, { at: '/usage', key: tenant.key })
    const { page } = visitor
    await page.getByRole('link', { name: 'Prompts', exact: true }).click()
    const search = page.getByRole('searchbox', { name: 'Search prompts' })
    for (const text of ['many', 'many-0', 'many-01']) {
      await search.fill(text)
      await eventually(() => assert.equal(visitor.path, `/prompts?q=${text}`))
    }
    await goBackThrough(visitor, ['/usage'])
    await page.goForward()
    await eventually(async () => assert.equal(await search.inputValue(), 'many-01'))
  })

  test('the opened change and the filters of a prompt are steps of their own, and survive a reload', async (t) => {
    const { scenario, prompt } = await createChangedPrompt(service)
    const visitor = await suite.visit(t, { at: `/prompts/${prompt.publicId}`, key: scenario.tenant.key })
    const { page } = visitor
    const start = visitor.path
    await page.getByRole('button', { name: '90 days' }).click()
    await eventually(() => assert.notEqual(visitor.path, start))
    const filtered = visitor.path
    await page.getByRole('button', { name: 'Sell something' }).first().click()
    await eventually(() => assert.match(visitor.path, /entry=\d+/))
    const opened = visitor.path
    await page.reload()
    await page.locator('.diff').first().waitFor()
    assert.equal(visitor.path, opened)
    await goBackThrough(visitor, [filtered, start])
  })

  test('a shared URL leads to the same view, also through signing in', async (t) => {
    const tenant = await service.tenant('free', 'admin')
    await createPrompts(tenant, 30)
    for (const [at, text] of [
      ['/prompts?sort=-name&page=2', /^26–/],
      ['/prompts?q=many-07', /many-07/],
      [`/prompts/${tenant.prompt.publicId}/signals?value=negative`, /No matching signals/],
      ['/keys?all=1', /Current session/],
      ['/repositories?connect=1', /Prompt files/],
    ] as const) {
      const visitor = await suite.visit(t, { at, key: tenant.key })
      // Menus of prompts contain the same names in options, which are never visible.
      await visitor.page.getByText(text).and(visitor.page.locator(':not(option)')).first().waitFor()
      assert.equal(visitor.path, at)
    }
  })

  test('Back returns to the scroll position, with the focus on the link that was followed', async (t) => {
    const tenant = await service.tenant()
    await createPrompts(tenant, 24)
    const visitor = await suite.visit(t, {
      at: '/prompts?sort=name',
      key: tenant.key,
      viewport: { width: 900, height: 500 },
    })
    const { page } = visitor
    const link = page.getByRole('link', { name: 'prompts/many-20.md' })
    await link.scrollIntoViewIfNeeded()
    const scrolled = await page.evaluate(() => window.scrollY)
    assert.ok(scrolled > 200)
    // It has no version yet, so none is live.
    visitor.expectErrors(`404 GET /api/v1${await link.getAttribute('href')}/live`)
    await link.click()
    await page.getByRole('heading', { name: 'prompts/many-20.md' }).waitFor()
    assert.equal(await page.evaluate(() => window.scrollY), 0)
    await eventuallyHasFocus(page.locator('#main'))
    await page.goBack()
    await eventuallyHasFocus(link)
    await eventually(async () => assert.equal(await page.evaluate(() => window.scrollY), scrolled))
  })

  test('a dialog with a URL closes on Back, and closing it leaves no step that opens it again', async (t) => {
    const tenant = await service.tenant('free', 'admin')
    const visitor = await suite.visit(t, { at: '/usage', key: tenant.key })
    const { page } = visitor
    await page.getByRole('link', { name: 'Alerts' }).click()
    await page.getByRole('button', { name: 'New alert' }).click()
    const dialog = page.getByRole('dialog', { name: 'New alert' })
    await dialog.waitFor()
    assert.equal(visitor.path, '/alerts?add=1')
    await goBackThrough(visitor, ['/alerts'])
    await dialog.waitFor({ state: 'detached' })
    await page.goForward()
    await dialog.waitFor()
    await page.keyboard.press('Escape')
    await dialog.waitFor({ state: 'detached' })
    await goBackThrough(visitor, ['/alerts', '/usage'])
  })

  test('Ctrl K finds prompts, changes, pages and actions with the keyboard alone', async (t) => {
    const { scenario, prompt } = await createChangedPrompt(service)
    const visitor = await suite.visit(t, { at: '/usage', key: scenario.tenant.key })
    const { page } = visitor
    const { keyboard } = page
    const palette = page.getByRole('dialog', { name: 'Search' })
    const field = palette.getByRole('combobox')
    const search = async (text: string, option: RegExp) => {
      await keyboard.press('Control+k')
      await eventuallyHasFocus(field)
      await keyboard.type(text)
      await palette.getByRole('option', { name: option, selected: true }).waitFor()
    }
    await search('p.md', /^prompts\/p\.md/)
    await checkAccessibility(page, 'the palette')
    await keyboard.press('Enter')
    await palette.waitFor({ state: 'detached' })
    await page.getByRole('heading', { name: 'prompts/p.md' }).waitFor()
    assert.equal(visitor.path, `/prompts/${prompt.publicId}`)

    await search('three sentences', /^Answer in three sentences/)
    await keyboard.press('Enter')
    await page.locator('.change-panel').getByText('They asked for it.').waitFor()

    await search('regress', /^Regressions/)
    await keyboard.press('Enter')
    await page.getByRole('heading', { name: 'Regressions', exact: true }).waitFor()

    await search('shortcuts', /^Show the keyboard shortcuts/)
    await keyboard.press('Enter')
    const list = page.getByRole('dialog', { name: 'Keyboard shortcuts' })
    await list.getByText('Go to the next change of a diff').waitFor()
    await keyboard.press('Escape')
    await list.waitFor({ state: 'detached' })
    await keyboard.press('?')
    await list.waitFor()
    await checkAccessibility(page, 'the list of shortcuts')
    await keyboard.press('Escape')

    await keyboard.press('Control+k')
    await eventuallyHasFocus(field)
    await keyboard.type('nothing like this')
    await palette.getByText('Nothing found by name.').waitFor()
    await keyboard.press('Escape')
    await palette.waitFor({ state: 'detached' })
    assert.equal(visitor.path, '/regressions')
  })

  test('a phrase is searched in the texts of all prompts from the palette, with the change that brought it', async (t) => {
    const { scenario, prompt } = await createChangedPrompt(service)
    const { page, path } = await suite.visit(t, { at: '/usage', key: scenario.tenant.key })
    assert.equal(path, '/usage')
    await page.keyboard.press('Control+k')
    await eventuallyHasFocus(page.getByRole('dialog', { name: 'Search' }).getByRole('combobox'))
    await page.keyboard.type('BE kind')
    await page.getByRole('option', { name: 'Search the texts of all prompts for “BE kind”' }).click()
    const match = page.getByRole('list', { name: 'Versions with this phrase' }).getByRole('listitem').first()
    await match.locator('mark').getByText('Be kind').waitFor()
    await page.getByText(/^Searched \d+ versions\.$/).waitFor()
    await match.getByRole('link', { name: 'prompts/p.md' }).click()
    await page.waitForURL(new RegExp(`/prompts/${prompt.publicId}/text\\?version=\\d+$`))
    await page.goBack()
    await page.getByRole('searchbox').fill('no such phrase')
    await page.getByRole('heading', { name: 'Not found' }).waitFor()
  })

  test('j and k move through the rows of a list, and not while someone types', async (t) => {
    const tenant = await service.tenant('free', 'admin')
    await createPrompts(tenant, 3)
    const visitor = await suite.visit(t, { at: '/prompts?sort=name', key: tenant.key })
    const { page } = visitor
    const row = (name: string) => page.getByRole('link', { name })
    for (const { publicId } of await service.store.prompts.list(tenant.organisation.id))
      visitor.expectErrors(`404 GET /api/v1/prompts/${publicId}/live`)
    await row('prompts/many-00.md').waitFor()
    await page.keyboard.press('j')
    await eventuallyHasFocus(row('prompts/a.md'))
    await page.keyboard.press('j')
    await page.keyboard.press('j')
    await eventuallyHasFocus(row('prompts/many-01.md'))
    await page.keyboard.press('k')
    await eventuallyHasFocus(row('prompts/many-00.md'))
    await page.keyboard.press('Enter')
    await page.getByRole('heading', { name: 'prompts/many-00.md' }).waitFor()
    await page.goBack()
    const field = page.getByRole('searchbox')
    await field.focus()
    await page.keyboard.type('jk?')
    assert.equal(await field.inputValue(), 'jk?')
    assert.equal(await page.getByRole('dialog').count(), 0)
  })
})
