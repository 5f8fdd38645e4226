import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { before, test } from 'node:test'
import type { Page } from 'playwright-core'
import { deploy } from '../../testing/deployments.ts'
import { eventually } from '../../testing/eventually.ts'
import { connectedScenario } from '../../testing/scenario.ts'
import { checkAccessibility } from './support/accessibility.ts'
import { inBrowser } from './support/browser.ts'
import { type ChangedPrompt, createChangedPrompt, dayMs } from './support/changed-prompt.ts'
import { readClipboard } from './support/clipboard.ts'
import { eventuallyHasFocus, tabTo } from './support/keyboard.ts'

const phone = { viewport: { width: 375, height: 667 } }
const liveLines = [
  'You are a helper.',
  'Answer every question in three sentences.',
  'Be kind.',
  'Always offer our newest plan.',
]

inBrowser('Versions of a prompt', (suite) => {
  const { service } = suite
  let changed: ChangedPrompt
  let key: string
  let path: string
  before(async () => {
    changed = await createChangedPrompt(service)
    key = changed.scenario.tenant.key
    path = `/prompts/${changed.prompt.publicId}`
  })

  /** The IDs of the entries that went live, newest first. */
  async function liveEntries({ scenario, prompt }: ChangedPrompt): Promise<{ id: number; commit_sha: string }[]> {
    const { data } = await scenario.get(`/prompts/${prompt.publicId}/timeline?action=deployed,pr_merged`)
    return (data as { entry: { id: number; commit_sha: string } }[]).map(({ entry }) => entry)
  }

  test('every page of a prompt has its name and ID to copy and links to its sections, and says when it has copied', async (t) => {
    const visitor = await suite.visit(t, { at: path, key })
    const { page } = visitor
    for (const section of ['Text', 'Compare', 'Signals', 'Overview']) {
      await page
        .getByRole('navigation', { name: 'Sections of this prompt' })
        .getByRole('link', { name: section })
        .click()
      await page.locator(`.section-links [aria-current="page"]`, { hasText: section }).waitFor()
      await page.getByRole('heading', { level: 1, name: 'prompts/p.md' }).waitFor()
    }
    const notice = page.locator('.prompt-head-ids [aria-live="polite"]')
    // It is gone after two seconds, in which a busy machine may not even report the click.
    const copied = notice.filter({ hasText: 'Copied' }).waitFor()
    await page.getByRole('button', { name: 'Copy the prompt ID' }).click()
    await copied
    assert.equal(await readClipboard(page), changed.prompt.publicId)
    await page.getByRole('button', { name: 'Copy the prompt name' }).click()
    await eventually(async () => assert.equal(await readClipboard(page), 'prompts/p.md'))
    await eventually(async () => assert.equal(await notice.innerText(), ''))
  })

  test('variables, front matter, Markdown and chat roles of a prompt are recognisable', async (t) => {
    const text = `---
model: large
---
# Support
system: You help {{customer.name}} in {city}. {"json": true}
- Never promise a **refund** to <user_input> in \`chat\`.
users: many
`
    const scenario = await connectedScenario(service, {
      prepare(git) {
        git.commit('Start', { 'prompts/v.md': text })
        git.push()
      },
    })
    const at = `/prompts/${await scenario.promptId('prompts/v.md')}/text`
    const { page } = await suite.visit(t, { at, key: scenario.tenant.key })
    await page.locator('.syntax-variable').first().waitFor()
    const found = await page
      .locator('.text-line [class^="syntax-"]')
      .evaluateAll((parts) => parts.map((part) => `${part.className.replace('syntax-', '')}: ${part.textContent}`))
    assert.deepEqual(found, [
      'front-matter: ---',
      'front-matter: model:',
      'front-matter: ---',
      'heading: # Support',
      'role: system:',
      'variable: {{customer.name}}',
      'variable: {city}',
      'marker: - ',
      'strong: **refund**',
      'tag: <user_input>',
      'code: `chat`',
    ])
    const shown = await page.locator('.text-line > span').allTextContents()
    assert.equal(shown.join('\n'), text.trimEnd(), 'nothing is added or lost')
    await checkAccessibility(page, 'a prompt with its syntax')
  })

  test('copying also works where the browser offers no clipboard, as over plain HTTP', async (t) => {
    const { page } = await suite.visit(t, { at: path, key })
    const button = page.getByRole('button', { name: 'Copy the prompt ID' })
    await button.waitFor()
    await page.evaluate(() => Object.defineProperty(navigator, 'clipboard', { value: undefined }))
    await button.click()
    await eventually(async () =>
      assert.equal(await page.locator('.prompt-head-ids [aria-live="polite"]').innerText(), 'Copied'),
    )
    await eventuallyHasFocus(button)
  })

  test('the prompt page leads with the live text, who changed it and when, and copies it exactly', async (t) => {
    const { page } = await suite.visit(t, { at: path, key })
    const card = page.getByRole('region', { name: 'Live Sell something' })
    await eventually(async () => assert.deepEqual(await linesOf(page, '.live-text'), liveLines))
    const [newest] = await liveEntries(changed)
    assert.match(
      await card.innerText(),
      new RegExp(`Ada Lovelace\\s+\\d+ \\w+ \\d{4}, \\d\\d:\\d\\d\\s+${newest?.commit_sha.slice(0, 7)}`),
    )
    await card.getByRole('button', { name: 'Copy the live text' }).click()
    await eventually(async () => assert.equal(await readClipboard(page), `${liveLines.join('\n')}\n`))
    await card.getByRole('link', { name: 'All versions' }).click()
    await page.locator('.version-list').waitFor()
  })

  test('the prompt page says which version runs in each environment, and the share of a canary', async (t) => {
    const other = await createChangedPrompt(service)
    const [newest, earlier, oldest] = await liveEntries(other)
    const daysAgo = (days: number) => new Date(service.now - days * dayMs).toISOString()
    await deploy(other.scenario, earlier?.commit_sha as string, daysAgo(10))
    await deploy(other.scenario, newest?.commit_sha as string, daysAgo(5), { share: 0.1 })
    await deploy(other.scenario, oldest?.commit_sha as string, daysAgo(4), { environment: 'staging' })
    await deploy(other.scenario, newest?.commit_sha as string, daysAgo(3), { environment: 'staging' })
    const { page } = await suite.visit(t, { at: `/prompts/${other.prompt.publicId}`, key: other.scenario.tenant.key })
    const places = page.getByRole('list', { name: 'Live versions by environment' }).getByRole('listitem')
    await eventually(async () =>
      assert.deepEqual(
        (await places.allInnerTexts()).map((text) => text.replaceAll(/\s+/g, ' ')),
        ['staging Sell something'],
      ),
    )
    const production = page.getByRole('region', { name: 'Live at the same time in production' }).locator('tbody tr')
    await eventually(async () =>
      assert.match((await production.allInnerTexts()).join(), /^Answer in three sentences.*90%.*Sell something.*10%/s),
    )
    await production.nth(1).getByRole('link', { name: 'Show' }).click()
    await page.getByText('Live for 10% of traffic').waitFor()
    await page.getByText('Always offer our newest plan.').waitFor()
  })

  test('on a phone the live text is one row until it is opened, and the chart begins above the fold', async (t) => {
    const { page } = await suite.visit(t, { at: path, key, ...phone })
    await page.locator('.chart-marker').first().waitFor()
    await page.getByRole('region', { name: 'Live Sell something' }).waitFor()
    assert.equal(await page.locator('.live-text .text-line').count(), 0)
    const card = await page.locator('.live-text').boundingBox()
    assert.ok((card?.height ?? 1_000) < 110, `the card is ${card?.height} px high`)
    const chart = await page.locator('.chart-card').boundingBox()
    assert.ok((chart?.y ?? 1_000) < 667 - 120, `the chart begins at ${chart?.y} px`)
    await page.getByRole('button', { name: 'Show text' }).click()
    assert.deepEqual(await linesOf(page, '.live-text'), liveLines)
    const width = await page.evaluate(() => document.documentElement.scrollWidth)
    assert.ok(width <= 375, `the page is ${width} px wide`)
  })

  test('a prompt without a text says why: nothing is live, the change was not read from git, its file was deleted, or it is too large', async (t) => {
    const tenant = await service.tenant()
    const at = `/prompts/${tenant.prompt.publicId}`
    const { page, open } = await visitorOf(t, at, tenant.key)
    await page.getByText('This prompt was never read from git, and no change of it was recorded.').waitFor()
    await open(`${at}/text`)
    await page.getByRole('heading', { name: 'No version is live yet' }).waitFor()
    await open(`${at}/compare`)
    await page.getByText('This prompt has fewer than two versions that went live.').waitFor()
    await tenant.recordEntry({ createdAt: service.now - dayMs })
    for (const end of ['', '/text']) {
      await open(at + end)
      await page.getByText('recorded through the API or an import, not read from git').waitFor()
    }

    const removed = await connectedScenario(service, {
      prepare(git) {
        git.commit('Start', { 'prompts/p.md': 'Be brief.\n' })
        git.commit('Remove it', { 'prompts/p.md': null, 'prompts/q.md': 'Stay.\n' })
        git.push()
      },
    })
    const gone = await visitorOf(t, `/prompts/${await removed.promptId('prompts/p.md')}`, removed.tenant.key)
    await gone.page.getByText('This version has no text: the change deleted the file.').waitFor()

    const huge = await connectedScenario(service, {
      prepare(git) {
        git.commit('Too much', { 'prompts/p.md': 'x'.repeat(17 * 1024 * 1024) })
        git.push()
      },
    })
    const full = await visitorOf(t, `/prompts/${await huge.promptId('prompts/p.md')}/text`, huge.tenant.key)
    await full.page.getByText('The text is too large to show').waitFor()
  })

  async function visitorOf(t: Parameters<typeof suite.visit>[0], at: string, itsKey: string) {
    const visitor = await suite.visit(t, { at, key: itsKey })
    return { page: visitor.page, open: (to: string) => visitor.open(to) }
  }

  test('the text at any version can be chosen from the list, shared by its URL, copied and downloaded', async (t) => {
    const visitor = await suite.visit(t, { at: `${path}/text`, key })
    const { page } = visitor
    await eventually(async () => assert.deepEqual(await linesOf(page, '.version-view'), liveLines))
    await page.locator('.version-head .live-badge').waitFor()
    const titles = page.locator('.version-list .version-title')
    await eventually(async () =>
      assert.deepEqual(
        (await titles.allInnerTexts()).map((title) => title.replace(/^Live\s+/, '')),
        ['Sell something', 'Answer in three sentences', 'Start with a helper'],
      ),
    )
    assert.equal(await page.locator('.version-list [aria-current]').innerText().then(firstLine), 'Live Sell something')
    await titles.nth(2).click()
    const oldest = ['You are a helper.', 'Answer every question at length.', 'Be kind.']
    await eventually(async () => assert.deepEqual(await linesOf(page, '.version-view'), oldest))
    const entries = await liveEntries(changed)
    assert.equal(visitor.path, `${path}/text?version=${entries[2]?.id}`)
    assert.equal(await page.locator('.version-head .live-badge').count(), 0)
    await page.getByRole('button', { name: 'Copy the whole text' }).click()
    await eventually(async () => assert.equal(await readClipboard(page), `${oldest.join('\n')}\n`))
    const [download] = await Promise.all([
      page.waitForEvent('download'),
      page.getByRole('button', { name: 'Download the whole text' }).click(),
    ])
    assert.equal(download.suggestedFilename(), `p-${entries[2]?.commit_sha.slice(0, 7)}.md`)
    assert.equal(readFileSync(await download.path(), 'utf8'), `${oldest.join('\n')}\n`)
    await page.reload()
    await eventually(async () => assert.deepEqual(await linesOf(page, '.version-view'), oldest))
    await page.goBack()
    await eventually(async () => assert.deepEqual(await linesOf(page, '.version-view'), liveLines))
    const historyLength = await page.evaluate(() => history.length)
    for (const [search, expected] of [
      ['BOB three', ['Answer in three sentences']],
      ['#7', ['Answer in three sentences']],
      [entries[0]?.commit_sha.slice(0, 8), ['Live Sell something']],
      ['nothing like it', []],
    ] as [string, string[]][]) {
      await page.getByRole('searchbox', { name: 'Search versions' }).fill(search)
      await eventually(async () =>
        assert.deepEqual(
          (await titles.allInnerTexts()).map((title) => title.replace(/\s+/, ' ')),
          expected,
        ),
      )
    }
    await page.getByText('No version matches this search.').waitFor()
    assert.equal(await page.evaluate(() => history.length), historyLength, 'typing is not a step of the history')
    assert.match(visitor.path, /q=nothing\+like\+it/)
    await visitor.open(`${path}/text?version=0x`)
    await eventually(async () => assert.deepEqual(await linesOf(page, '.version-view'), liveLines))
  })

  test('blame shows who wrote each line, when and by which pull request, and leads to the change', async (t) => {
    const visitor = await suite.visit(t, { at: `${path}/text`, key })
    const { page } = visitor
    await page.getByRole('button', { name: 'Blame' }).click()
    const groups = page.locator('.blame-group')
    await eventually(async () => assert.equal(await groups.count(), 4))
    assert.equal(visitor.path, `${path}/text?blame=1`)
    const texts = (await groups.allInnerTexts()).map((text) =>
      text.replaceAll(/\s+/g, ' ').replace(/^\d+ \w+ \d{4} ?/, ''),
    )
    assert.deepEqual(texts, [
      ': Start with a helper Ada Lovelace You are a helper.',
      ': Answer in three sentences Bob #7 Answer every question in three sentences.',
      ': Start with a helper Ada Lovelace Be kind.',
      ': Sell something Ada Lovelace Always offer our newest plan.',
    ])
    await checkAccessibility(page, 'blame')
    const entries = await liveEntries(changed)
    await page.locator('.version-list').getByText('Start with a helper').click()
    await eventually(async () => assert.equal(await groups.count(), 1))
    assert.equal(visitor.path, `${path}/text?blame=1&version=${entries[2]?.id}`)
    await page.goBack()
    await eventually(async () => assert.equal(await groups.count(), 4))
    await groups.nth(1).getByRole('link', { name: 'Answer in three sentences' }).click()
    await eventually(() => assert.equal(visitor.path, `${path}?entry=${entries[1]?.id}`))
    await page.goBack()
    await groups.first().waitFor()
    await page.getByRole('button', { name: 'Blame' }).click()
    await eventually(async () => assert.equal(await groups.count(), 0))
    await eventually(async () => assert.deepEqual(await linesOf(page, '.version-view'), liveLines))
  })

  test('where git cannot say who wrote a line, blame says why and shows the text', async (t) => {
    const tenant = await service.tenant()
    await tenant.recordEntry({ createdAt: service.now - dayMs })
    const { page } = await visitorOf(t, `/prompts/${tenant.prompt.publicId}/text?blame=1`, tenant.key)
    await page.getByText('Git cannot say who wrote these lines').waitFor()
    await page.getByText('recorded through the API or an import, not read from git').waitFor()
  })

  test('an unknown version is named as such, and the live one is a click away', async (t) => {
    const visitor = await suite.visit(t, { at: '/usage', key })
    visitor.expectErrors(
      `404 GET /api/v1${path}/history/999999`,
      `404 GET /api/v1${path}/timeline/999999`,
      `404 GET /api/v1${path}/blame`,
    )
    await visitor.open(`${path}/text?version=999999`)
    await visitor.page.getByText('This prompt has no history entry 999999.').waitFor()
    await visitor.page.getByRole('link', { name: 'See the live version' }).click()
    await eventually(async () => assert.deepEqual(await linesOf(visitor.page, '.version-view'), liveLines))
  })

  test('a text of 50,000 lines shows 500 at a time, goes to any line by its URL, and is copied as a whole', async (t) => {
    const lines = Array.from({ length: 50_000 }, (_, i) => `Rule ${i + 1}.`)
    lines[10] = 'x'.repeat(20_000)
    const text = `${lines.join('\n')}\n`
    const scenario = await connectedScenario(service, {
      prepare(git) {
        git.commit('Many rules', { 'prompts/long.md': text })
        git.push()
      },
    })
    const at = `/prompts/${await scenario.promptId('prompts/long.md')}`
    const visitor = await suite.visit(t, { at: `${at}/text`, key: scenario.tenant.key })
    const { page } = visitor
    const rows = page.locator('.version-view .text-line')
    await eventually(async () => assert.equal(await rows.count(), 500))
    await page.getByText('Lines 1–500 of 50,000').first().waitFor()
    await page.getByText('… 15,000 more characters in this line').waitFor()
    await page.getByRole('spinbutton', { name: 'Go to line' }).first().fill('40123')
    await page.keyboard.press('Enter')
    await page.getByText('Lines 40,001–40,500 of 50,000').first().waitFor()
    assert.equal(visitor.path, `${at}/text?line=40123`)
    const selected = page.locator('.text-line[aria-current]')
    assert.equal(await selected.innerText(), 'Rule 40123.')
    const selectedIsInView = () =>
      eventually(async () => {
        const { y } = (await selected.boundingBox()) ?? { y: Number.NaN }
        assert.ok(y > 0 && y < 720, `the line is out of view, at ${y}`)
      })
    await selectedIsInView()
    await page.getByRole('button', { name: 'Next lines' }).first().click()
    await page.getByText('Lines 40,501–41,000 of 50,000').first().waitFor()
    await page.goBack()
    await page.getByText('Lines 40,001–40,500 of 50,000').first().waitFor()
    // The page scrolls there by itself, which would move the button away under a click.
    await selectedIsInView()
    await page.getByRole('button', { name: 'Copy the whole text' }).click()
    await eventually(async () => assert.equal((await readClipboard(page)).length, text.length))

    await visitor.open(at)
    await eventually(async () => assert.equal(await page.locator('.live-text .text-line').count(), 20))
    await page.getByRole('button', { name: 'Show all 50,000 lines' }).click()
    await page.getByText('These are the first 300 of 50,000 lines.').waitFor()
    assert.equal(await page.locator('.live-text .text-line').count(), 300)
  })

  test('a text with HTML and hidden characters is shown character by character, with marks', async (t) => {
    const hostile = '<img src=x onerror="window.__pwned=1">\u202e<script>window.__pwned=1</script>'
    const scenario = await connectedScenario(service, {
      prepare(git) {
        git.commit('Start\u200b here', { 'prompts/h.md': `${hostile}\nBe\u200b kind 👩‍💻.\n` })
        git.push()
      },
    })
    const at = `/prompts/${await scenario.promptId('prompts/h.md')}`
    const visitor = await suite.visit(t, { at, key: scenario.tenant.key, bypassCSP: true })
    const { page } = visitor
    const shown = [hostile.replace('\u202e', '⟦U+202E RLO⟧'), 'Be⟦U+200B ZWSP⟧ kind 👩‍💻.']
    await eventually(async () => assert.deepEqual(await linesOf(page, '.live-text'), shown))
    await visitor.open(`${at}/text`)
    await eventually(async () => assert.deepEqual(await linesOf(page, '.version-view'), shown))
    await page.getByText('This change adds 2 hidden characters').waitFor()
    await page.locator('.version-list').getByText('Start⟦U+200B ZWSP⟧ here').waitFor()
    assert.equal(await page.evaluate('window.__pwned'), undefined)
    // What is copied is the text itself, not the marks.
    await page.getByRole('button', { name: 'Copy the whole text' }).click()
    await eventually(async () => assert.equal(await readClipboard(page), `${hostile}\nBe\u200b kind 👩‍💻.\n`))
  })

  test('the keyboard reaches everything on the text page', async (t) => {
    const visitor = await suite.visit(t, { at: `${path}/text`, key })
    const { page } = visitor
    await tabTo(page, page.getByRole('link', { name: /^Start with a helper/ }))
    await page.keyboard.press('Enter')
    await page.getByText('Answer every question at length.').waitFor()
    await tabTo(page, page.getByRole('button', { name: 'Copy the whole text' }))
  })
})

/** The shown lines of a text, without their numbers. */
function linesOf(page: Page, within: string): Promise<string[]> {
  return page.locator(`${within} .text-line`).allInnerTexts()
}

function firstLine(text: string): string | undefined {
  return text.split('\n')[0]
}
