import assert from 'node:assert/strict'
import { test } from 'node:test'
import { eventually } from '../../testing/eventually.ts'
import { inBrowser } from './support/browser.ts'
import { createHostileOrganisation } from './support/hostile-organisation.ts'

inBrowser('Security of the console', (suite) => {
  const { service } = suite

  test('hostile text is shown as text on every page: no script runs, no other host is contacted, no layout breaks', async (t) => {
    const { key, pages } = await createHostileOrganisation(service)
    // The policy would hide a mistake, so this test runs without it.
    const visitor = await suite.visit(t, { key, viewport: { width: 390, height: 800 }, bypassCSP: true })
    const { page } = visitor
    for (const { at, shows, clicks = [], errors = [] } of pages) {
      visitor.expectErrors(...errors)
      await visitor.open(at)
      for (const selector of clicks) {
        await page.locator(selector).first().waitFor()
        await visitor.settle()
        await page.locator(selector).first().click()
      }
      await eventually(async () => {
        const text = await page.locator('body').innerText()
        for (const part of shows) assert.ok(text.includes(part), `${at} does not show ${part}, but ${text}`)
      })
      assert.equal(await page.evaluate('window.__pwned'), undefined, `a script ran on ${at}`)
      const protocols = await page
        .locator('a')
        .evaluateAll((links) => links.map((link) => (link as HTMLAnchorElement).protocol))
      assert.deepEqual(new Set(protocols).difference(new Set(['http:', 'https:'])), new Set(), `a script link on ${at}`)
      for (const width of [1280, 390]) {
        await page.setViewportSize({ width, height: 800 })
        // The chart adapts to the width a moment later.
        await eventually(async () => {
          const scrollWidth = await page.evaluate(() => document.documentElement.scrollWidth)
          assert.ok(scrollWidth <= width, `${at} ${clicks} is ${scrollWidth} px wide in a window of ${width} px`)
        })
      }
    }
  })

  test('the Content-Security-Policy blocks an injected script and an image from another host', async (t) => {
    const visitor = await suite.visit(t)
    await visitor.page.evaluate(() => {
      const script = document.createElement('script')
      script.textContent = 'window.__pwned = 1'
      const image = document.createElement('img')
      image.src = 'https://elsewhere.example/x.png'
      document.body.append(script, image)
    })
    await eventually(() => {
      const violations = visitor.problems.filter((problem) => problem.startsWith('policy violation: '))
      assert.deepEqual(violations.sort(), [
        'policy violation: img-src https://elsewhere.example/x.png',
        'policy violation: script-src-elem inline',
      ])
    })
    assert.equal(await visitor.page.evaluate('window.__pwned'), undefined)
    visitor.problems.length = 0
  })
})
