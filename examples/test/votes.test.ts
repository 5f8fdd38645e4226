import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Page } from 'playwright-core'
import { checkAccessibility } from '../../console/test/support/accessibility.ts'
import { type BrowserSuite, inBrowser } from '../../console/test/support/browser.ts'
import { tabTo } from '../../console/test/support/keyboard.ts'
import { onTestEnd } from '../../testing/cleanup.ts'
import { eventually } from '../../testing/eventually.ts'
import type { Tenant } from '../../testing/service.ts'
import { createSigningKey } from '../../testing/vote-tokens.ts'
import { startExample, usePackedExamples } from './packed-examples.ts'

const version = 'a1'.repeat(20)

inBrowser('Votes in the examples', (suite) => {
  const client = usePackedExamples()

  /** Starts an example and opens it. */
  async function open(tenant: Tenant, file: string, query = ''): Promise<Page> {
    const { address } = await startExample(client, file, await environment(suite, tenant))
    const context = await suite.browser.newContext({ reducedMotion: 'reduce' })
    context.setDefaultTimeout(30_000)
    onTestEnd(() => context.close())
    const page = await context.newPage()
    // Such as a mismatch of what the server and the browser rendered.
    const problems: string[] = []
    page.on('console', (message) => message.type() === 'error' && problems.push(message.text()))
    page.on('pageerror', (error) => problems.push(error.message))
    onTestEnd(() => assert.deepEqual(problems, []))
    await page.goto(address + query)
    return page
  }

  /** Votes with the keyboard, as often as a user who cannot decide, and checks what the service has each time. */
  async function changeMind(page: Page, tenant: Tenant): Promise<Record<string, unknown>> {
    const button = (name: string) => page.getByRole('button', { name })
    const signals = async () => {
      const response = await suite.request(tenant.key, `/prompts/${tenant.prompt.publicId}/signals`)
      return ((await response.json()) as { data: Record<string, unknown>[] }).data
    }
    /** Waits until the page and the service agree on one vote, and returns it. */
    const recorded = async (status: string, value: string, comment: string | null = null) => {
      await page.getByRole('status').getByText(status).waitFor()
      const [signal = {}, ...others] = await signals()
      assert.deepEqual([signal.value, signal.comment, signal.version, others], [value, comment, version, []])
      return signal
    }

    await checkAccessibility(page, 'an answer')
    await tabTo(page, button('Good answer'))
    await page.keyboard.press('Enter')
    const signal = await recorded('Thank you for your vote.', 'positive')
    assert.match(String(signal.voter), /\w/)

    await tabTo(page, page.getByLabel('What should we know?'))
    await page.keyboard.type('It is "good" 🙂')
    await checkAccessibility(page, 'an answer with a vote')
    await tabTo(page, button('Send comment'))
    await page.keyboard.press('Enter')
    assert.equal((await recorded('Thank you for your comment.', 'positive', 'It is "good" 🙂')).id, signal.id)

    await button('Good answer').click()
    await page.getByRole('status').getByText('Vote withdrawn.').waitFor()
    assert.deepEqual(await signals(), [])
    await button('Bad answer').click()
    await page.getByRole('status').getByText('Thank you for your vote.').waitFor()
    await eventually(async () => assert.equal((await signals())[0]?.value, 'negative'))
    return signal
  }

  test('a user of the chat server can change, explain and withdraw a vote with the keyboard', async () => {
    const tenant = await suite.service.tenant()
    const page = await open(tenant, 'chat-server/server.ts')
    for (const question of ['Why?', 'How?']) {
      await page.getByLabel('Question').fill(question)
      await page.keyboard.press('Enter')
      await page.getByText(`You asked: ${question}`).waitFor()
    }
    // The first answer stays without a vote.
    await page
      .getByRole('listitem')
      .first()
      .evaluate((item) => item.remove())
    await changeMind(page, tenant)
  })

  test('a user of the Next.js example can change, explain and withdraw a vote with the keyboard', async () => {
    const tenant = await suite.service.tenant()
    const page = await open(tenant, 'test/next-server.ts', `/?id=o-1&version=${version}`)
    assert.equal((await changeMind(page, tenant)).subject, 'o-1')
  })
})

async function environment(suite: BrowserSuite, tenant: Tenant): Promise<Record<string, string>> {
  return {
    PROMPTLEDGER_URL: suite.address,
    PROMPTLEDGER_SIGNING_KEY: (await createSigningKey(suite.service, tenant)).secret,
    PROMPTLEDGER_PROMPT: tenant.prompt.publicId,
    PROMPT_VERSION: version,
  }
}
