import assert from 'node:assert/strict'
import { before, test } from 'node:test'
import type { Locator } from 'playwright-core'
import { eventually } from '../../testing/eventually.ts'
import { connectedScenario } from '../../testing/scenario.ts'
import { checkAccessibility, looks } from './support/accessibility.ts'
import { inBrowser } from './support/browser.ts'
import { createChangedPrompt } from './support/changed-prompt.ts'
import { eventuallyHasFocus, tabTo } from './support/keyboard.ts'

inBrowser('Comparing versions', (suite) => {
  const { service } = suite
  let key: string
  let path: string
  /** The entries of the prompt that went live. */
  let started: number
  let shortened: number
  let sold: number
  before(async () => {
    const { scenario, prompt } = await createChangedPrompt(service)
    key = scenario.tenant.key
    path = `/prompts/${prompt.publicId}`
    const { data } = await scenario.get(`${path}/timeline?action=deployed,pr_merged`)
    const ids = (data as { entry: { id: number } }[]).map(({ entry }) => entry.id)
    ;[sold, shortened, started] = ids as [number, number, number]
  })

  /** A repository whose prompt had these texts, the oldest first, and the path of the page that compares the newest two. */
  async function versionsOf(texts: string[]): Promise<{ at: string; key: string }> {
    const scenario = await connectedScenario(service, {
      prepare(git) {
        for (const [i, text] of texts.entries()) git.commit(`Version ${i + 1}`, { 'prompts/v.md': text })
        git.push()
      },
    })
    return { at: `/prompts/${await scenario.promptId('prompts/v.md')}/compare`, key: scenario.tenant.key }
  }

  test('a line of 200 KB shows the text around its changed words, and the rest on request', async (t) => {
    const words = Array.from({ length: 25_000 }, (_, i) => `word${i % 977}`)
    const [before, after] = [[...words], [...words]]
    after[4_000] = 'REFUND'
    after[20_000] = 'NEVER'
    const { at, key: ownKey } = await versionsOf([`${before.join(' ')}\n`, `${after.join(' ')}\n`])
    const { page } = await suite.visit(t, { at, key: ownKey })
    for (const word of ['REFUND', 'NEVER']) await page.locator('ins', { hasText: word }).waitFor()
    const cell = page.locator('.split-cell.added')
    const { length } = await cell.innerText()
    assert.ok(length < 2_500, `${length} characters are shown`)
    await cell
      .getByRole('button', { name: /more characters/ })
      .first()
      .click()
    assert.ok((await cell.innerText()).length > 190_000)
  })

  test('buttons and keys lead from change to change of a diff', async (t) => {
    const lines = Array.from({ length: 120 }, (_, i) => `Rule ${i}.`)
    const changed = lines.map((line, i) => (i % 50 === 10 ? `${line} Be kind.` : line))
    const { at, key: ownKey } = await versionsOf([`${lines.join('\n')}\n`, `${changed.join('\n')}\n`])
    const { page } = await suite.visit(t, { at, key: ownKey, viewport: { width: 1_280, height: 400 } })
    const current = page.locator('.split-row[data-current]')
    const isAt = async (place: number, line: string) => {
      await page.getByText(`Change ${place} of 3`).waitFor()
      assert.equal(await current.count(), 1)
      assert.match(await words(current), new RegExp(`${line} Be kind\\.$`))
      const { y = -1 } = (await current.boundingBox()) ?? {}
      assert.ok(y >= 0 && y < 400, `the change is at ${y}`)
    }
    await page.getByText('3 changes', { exact: true }).waitFor()
    await page.getByRole('button', { name: 'Next change' }).click()
    await isAt(1, 'Rule 10.')
    await page.keyboard.press('n')
    await page.keyboard.press('n')
    await isAt(3, 'Rule 110.')
    await page.keyboard.press('n')
    await isAt(3, 'Rule 110.')
    await page.keyboard.press('p')
    await isAt(2, 'Rule 60.')
    await checkAccessibility(page, 'a diff with several changes')
  })

  test('the live version is compared with the one before it, side by side and by word, with the figures of both and the verdict', async (t) => {
    const visitor = await suite.visit(t, { at: `${path}/compare`, key })
    const { page } = visitor
    const [from, to] = [page.getByRole('region', { name: 'From' }), page.getByRole('region', { name: 'To' })]
    await eventually(async () =>
      assert.match(
        await words(from),
        /Answer in three sentences.*Bob.*#7.*Positive 80% Signals 400 Live \d+ \w+ 2\d{3} – \d+ \w+ 2\d{3}$/,
      ),
    )
    await eventually(async () =>
      assert.match(await words(to), /Sell something.*Ada Lovelace.*Positive 50% Signals 300 Live since/),
    )
    await page.locator('.compare-verdict .verdict.worse').waitFor()
    await page.getByText('1 line added, 0 lines removed').waitFor()
    const added = page.locator('.split-row', { has: page.locator('.added') })
    assert.equal(await added.locator('.split-cell.none').count(), 1)
    assert.equal(await added.locator('.split-cell.added').getAttribute('data-line'), '4')
    assert.match(await words(added), /Added: Always offer our newest plan\.$/)

    await visitor.open(`${path}/compare?a=${started}&b=${shortened}`)
    await page.locator('.compare-verdict .verdict.better').waitFor()
    await page.locator('.split-cell.added ins').first().waitFor()
    assert.equal((await page.locator('.split-cell.removed del').allInnerTexts()).join(' '), 'at length')
    assert.equal((await page.locator('.split-cell.added ins').allInnerTexts()).join(' '), 'in three sentences')
  })

  test('versions that did not follow each other have no verdict, and the page says so', async (t) => {
    const visitor = await suite.visit(t, { at: `${path}/compare?a=${started}&b=${sold}`, key })
    const { page } = visitor
    await page.getByText('These figures are not a verdict: one version did not replace the other').waitFor()
    await page.getByRole('link', { name: 'Swap' }).click()
    await eventually(() => assert.equal(visitor.path, `${path}/compare?a=${sold}&b=${started}`))
    await visitor.open(`${path}/compare?a=${sold}&b=${shortened}`)
    await page.getByText('The version on the right is the older one.').waitFor()
    await visitor.open(`${path}/compare?a=${sold}&b=${sold}`)
    await page.getByText('Both sides are the same version.').waitFor()
    assert.equal(await page.locator('.compare-verdict .verdict').count(), 0)
  })

  test('a version is chosen from the list or by stepping to an older or newer one; Back undoes it, and a reload keeps it', async (t) => {
    const visitor = await suite.visit(t, { at: `${path}/compare`, key })
    const { page } = visitor
    const from = page.getByRole('region', { name: 'From' })
    const chooser = from.getByRole('button', { name: /^From: .*Choose another version$/ })
    await chooser.click()
    await from.getByRole('searchbox', { name: 'Search versions' }).fill('start')
    await eventually(async () => assert.equal(await from.locator('.version-list li').count(), 1))
    await from.getByRole('link', { name: /^Start with a helper/ }).click()
    await eventually(() => assert.equal(visitor.path, `${path}/compare?a=${started}&b=${sold}`))
    await eventuallyHasFocus(chooser)
    await page.locator('.version-panel').waitFor({ state: 'detached' })
    await page.getByText('These figures are not a verdict').waitFor()
    await page.reload()
    await page.getByText('These figures are not a verdict').waitFor()
    await from.getByRole('link', { name: 'Newer version on the side From' }).click()
    await eventually(() => assert.equal(visitor.path, `${path}/compare?a=${shortened}&b=${sold}`))
    await page.locator('.compare-verdict .verdict.worse').waitFor()
    const to = page.getByRole('region', { name: 'To' })
    assert.equal(await to.getByRole('link', { name: /^Newer/ }).count(), 0)
    await to.getByRole('link', { name: 'Older version on the side To' }).click()
    await eventually(() => assert.equal(visitor.path, `${path}/compare?a=${shortened}&b=${shortened}`))
    await page.goBack()
    await eventually(() => assert.equal(visitor.path, `${path}/compare?a=${shortened}&b=${sold}`))
    await page.goBack()
    await page.goBack()
    await eventually(() => assert.equal(visitor.path, `${path}/compare`))
    await page.locator('.compare-verdict .verdict.worse').waitFor()
  })

  test('the diff can be unified instead, and always is on a phone', async (t) => {
    const at = `${path}/compare?a=${started}&b=${shortened}`
    const visitor = await suite.visit(t, { at, key, viewport: { width: 1_280, height: 720 } })
    const { page } = visitor
    await page.locator('.split-row').first().waitFor()
    await page.getByRole('button', { name: 'Unified' }).click()
    const kinds = () =>
      page.locator('.diff-line').evaluateAll((lines) => lines.map((line) => line.className.replace('diff-line ', '')))
    await eventually(async () => assert.deepEqual(await kinds(), ['same', 'removed', 'added', 'same']))
    assert.match(visitor.path, /&view=unified$/)
    assert.equal(await page.locator('.split-row').count(), 0)
    await page.getByRole('button', { name: 'Side by side' }).click()
    await page.locator('.split-row').first().waitFor()
    await page.setViewportSize({ width: 375, height: 667 })
    await eventually(async () => assert.deepEqual(await kinds(), ['same', 'removed', 'added', 'same']))
    assert.equal(await page.getByRole('button', { name: 'Side by side' }).count(), 0)
  })

  test('equal texts are called equal', async (t) => {
    const back = await versionsOf(['Be brief.\n', 'Be long.\n', 'Be brief.\n'])
    const { page } = await suite.visit(t, { at: back.at, key: back.key })
    await page.getByRole('link', { name: 'Older version on the side From' }).click()
    await page.getByText('Both versions have the same text.').waitFor()
  })

  test('a long diff is shown in steps, texts that differ too much are shown in full, and longer ones are refused with the limit', async (t) => {
    const lines = (word: string, count: number) => Array.from({ length: count }, (_, i) => `${word} ${i}\n`).join('')
    const long = await versionsOf([lines('a', 3_000), lines('b', 3_000), 'c'.repeat(5_000_000)])
    const visitor = await suite.visit(t, { at: long.at, key: long.key })
    const { page } = visitor
    await page.getByText('These texts are too long to compare here:').waitFor()
    await page.getByText('the limit is 4,194,304').waitFor()
    await page.getByRole('link', { name: 'Older version on the side To' }).click()
    await page.getByRole('link', { name: 'Older version on the side From' }).click()
    await page.getByText('3,000 lines added, 3,000 lines removed').waitFor()
    assert.equal(await page.locator('.split-row').count(), 500)
    await page.getByRole('button', { name: 'Show more of the diff (2,500 rows left)' }).click()
    await eventually(async () => assert.equal(await page.locator('.split-row').count(), 1_000))

    const rewritten = await versionsOf([`Start\n${lines('a', 40_000)}End\n`, `Start\n${lines('b', 40_000)}End\n`])
    const other = await suite.visit(t, { at: rewritten.at, key: rewritten.key })
    await other.page.getByText('These texts differ too much to compare them line by line within one second.').waitFor()
    await other.page.getByText('40,000 lines added, 40,000 lines removed').waitFor()
    assert.match(await words(other.page.locator('.split-row').first()), /^Start Start$/)
  })

  test('HTML and hidden characters are shown as text in both views, and no script runs', async (t) => {
    const hostile = '<img src=x onerror="window.__pwned=1">\u202e<script>window.__pwned=1</script>'
    const { at, key: itsKey } = await versionsOf(['Be kind.\n', `Be\u200b kind.\n${hostile}\n`])
    const visitor = await suite.visit(t, { at, key: itsKey, bypassCSP: true })
    const { page } = visitor
    for (const view of ['', '?view=unified']) {
      await visitor.open(at + view)
      const added = page.locator('.diff .added')
      await eventually(async () => assert.equal(await added.count(), 2))
      const text = (await added.allInnerTexts()).join('\n')
      assert.ok(text.includes('Be⟦U+200B ZWSP⟧ kind.'), text)
      assert.ok(text.includes(hostile.replace('\u202e', '⟦U+202E RLO⟧')), text)
    }
    assert.equal(await page.evaluate('window.__pwned'), undefined)
  })

  test('axe finds no serious problem on the compare page, at 375 px and 1280 px, and it works with the keyboard alone', async (t) => {
    const visitor = await suite.visit(t, { at: `${path}/compare?a=${started}&b=${shortened}`, key })
    const { page } = visitor
    for (const { width, theme } of looks) {
      await page.setViewportSize({ width, height: 800 })
      await page.locator('.diff .added').waitFor()
      await page.locator('.compared-figures').nth(1).waitFor()
      await page.getByRole('button', { name: /^To: / }).click()
      await page.locator('.version-panel a').first().waitFor()
      await checkAccessibility(page, `a list of versions at ${width} px`, [theme])
      const scrollWidth = await page.evaluate(() => document.documentElement.scrollWidth)
      assert.ok(scrollWidth <= width, `the compare page is ${scrollWidth} px wide in a window of ${width} px`)
      await page.keyboard.press('Escape')
      await eventually(async () => assert.equal(await page.locator('.version-panel').count(), 0))
    }
    const chooser = page.getByRole('button', { name: /^To: / })
    await eventuallyHasFocus(chooser)
    await page.keyboard.press('Enter')
    await tabTo(page, page.locator('.version-panel').getByRole('link', { name: /^Live Sell something/ }))
    await page.keyboard.press('Enter')
    await eventuallyHasFocus(chooser)
    await eventually(() => assert.equal(visitor.path, `${path}/compare?a=${started}&b=${sold}`))
    await tabTo(page, page.getByRole('link', { name: 'Swap' }), 'Shift+Tab')
    await page.keyboard.press('Enter')
    await eventually(() => assert.equal(visitor.path, `${path}/compare?a=${sold}&b=${started}`))
  })

  test('an unknown version is named on its side, and another can be chosen', async (t) => {
    const visitor = await suite.visit(t, { at: '/usage', key })
    visitor.expectErrors(`404 GET /api/v1${path}/timeline/999999`, `404 GET /api/v1${path}/history/999999`)
    await visitor.open(`${path}/compare?a=999999&b=${sold}`)
    await visitor.page.getByText('This prompt has no history entry 999999. Choose another version.').waitFor()
  })
})

/** The text of an element as one line. */
async function words(element: Locator): Promise<string> {
  return (await element.innerText()).replaceAll(/\s+/g, ' ').trim()
}
