import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Promptledger } from '../../client/src/index.ts'
import { eventually } from '../../testing/eventually.ts'
import type { Tenant } from '../../testing/service.ts'
import { createSigningKey } from '../../testing/vote-tokens.ts'
import { checkAccessibility, checkFits } from './support/accessibility.ts'
import { inBrowser } from './support/browser.ts'

const phone = { width: 360, height: 740 }

inBrowser('The page of the demo', (suite) => {
  // Set by the test, which the service is older than.
  const application = { prompt: '', sign: async () => '' }
  suite.service.demo = application

  async function useTenant(): Promise<Tenant> {
    const tenant = await suite.service.tenant()
    const { secret } = await createSigningKey(suite.service, tenant)
    const { tokens } = new Promptledger({ signingKey: secret })
    const prompt = tenant.prompt.publicId
    let count = 0
    Object.assign(application, { prompt, sign: () => tokens.sign({ prompt, subject: `answer-${count++}` }) })
    return tenant
  }

  test('every pair of buttons votes, in its own language and with its own look', async (t) => {
    const tenant = await useTenant()
    // Colours are compared at once, not while they change.
    const { page } = await suite.visit(t, { at: '/demo/thumbs', reducedMotion: 'reduce' })
    const names = ['Good answer', 'Good answer', 'Good answer', 'Helpful', 'Gute Antwort']
    const elements = page.locator('promptledger-thumbs')
    assert.equal(await elements.count(), names.length)
    for (const [i, name] of names.entries()) await elements.nth(i).getByRole('button', { name, exact: true }).click()
    await page.getByText('Danke für Ihre Bewertung.').waitFor()
    await eventually(async () => assert.equal(await tenant.used(), names.length))
    await eventually(async () => assert.equal(await page.locator('#log li').count(), names.length))
    assert.equal(
      await page.getByRole('link', { name: 'this prompt' }).getAttribute('href'),
      `/prompts/${application.prompt}/signals`,
    )
    await checkAccessibility(page, 'the page with votes')
  })

  test('it fits a phone, and shows a comment as text', async (t) => {
    const tenant = await useTenant()
    const { page } = await suite.visit(t, { at: '/demo/thumbs', viewport: phone, hasTouch: true, isMobile: true })
    const first = page.locator('promptledger-thumbs').first()
    await first.getByRole('button', { name: 'Bad answer' }).tap()
    await first.getByLabel('What should we know?').fill('<img src=x onerror=alert(1)>')
    await first.getByRole('button', { name: 'Send comment' }).tap()
    await page.getByText('(<img src=x onerror=alert(1)>)').waitFor()
    await checkFits(page, 'the page')
    assert.equal(await tenant.used(), 1)
  })
})
