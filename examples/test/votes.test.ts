import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { fileURLToPath } from 'node:url'
import type { Page } from 'playwright-core'
import { checkAccessibility } from '../../console/test/support/accessibility.ts'
import { type BrowserSuite, inBrowser } from '../../console/test/support/browser.ts'
import { tabTo } from '../../console/test/support/keyboard.ts'
import { onTestEnd } from '../../testing/cleanup.ts'
import { eventually } from '../../testing/eventually.ts'
import type { Tenant } from '../../testing/service.ts'

const startTimeoutMs = 30_000
const version = 'a1'.repeat(20)

/** Starts an example and returns its URL. */
async function start(suite: BrowserSuite, { key, prompt }: Tenant, file: string): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'promptledger-example-'))
  onTestEnd(() => rm(folder, { recursive: true }))
  const path = fileURLToPath(new URL(`../${file}`, import.meta.url))
  const server = spawn(process.execPath, ['--conditions=promptledger:source', '--no-warnings', path], {
    env: {
      ...process.env,
      PROMPTLEDGER_URL: suite.address,
      PROMPTLEDGER_KEY: key,
      PROMPTLEDGER_PROMPT: prompt.publicId,
      PROMPT_VERSION: version,
      SPOOL: join(folder, 'votes.spool'),
      PORT: '0',
    },
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  onTestEnd(() => server.kill('SIGKILL'))
  const [line] = await once(server.stdout, 'data', { signal: AbortSignal.timeout(startTimeoutMs) })
  return String(line).trim()
}

inBrowser('Votes in the examples', (suite) => {
  async function openPage(t: TestContext): Promise<Page> {
    const page = await suite.browser.newPage()
    page.setDefaultTimeout(10_000)
    t.after(() => page.close())
    return page
  }

  /** Votes with the keyboard, as often as a user who cannot decide, and checks what the service has each time. */
  async function changeMind(page: Page, tenant: Tenant, subject: string): Promise<void> {
    const button = (name: string) => page.getByRole('button', { name })
    const signals = async () => {
      const response = await suite.request(tenant.key, `/prompts/${tenant.prompt.publicId}/signals`)
      return ((await response.json()) as { data: Record<string, unknown>[] }).data
    }
    const isPressed = async () =>
      Promise.all(['Good answer', 'Bad answer'].map((name) => button(name).getAttribute('aria-pressed')))
    /** Waits until the page and the service agree on one vote, and returns it. */
    const recorded = async (status: string, expected: object) => {
      await page.getByRole('status').getByText(status).waitFor()
      await eventually(async () => {
        const [{ value, comment, subject, version } = {}, ...others] = await signals()
        assert.deepEqual([{ value, comment, subject, version }, others], [expected, []])
      })
      const [signal] = await signals()
      assert.match(String(signal?.voter), /\w/)
      return signal?.id
    }
    const vote = { comment: null, subject, version }

    await checkAccessibility(page, 'an answer')
    await tabTo(page, button('Good answer'))
    await page.keyboard.press('Enter')
    const id = await recorded('Thank you for your vote.', { ...vote, value: 'positive' })
    assert.deepEqual(await isPressed(), ['true', 'false'])

    await tabTo(page, button('Bad answer'))
    await page.keyboard.press('Space')
    assert.equal(await recorded('Thank you for your vote.', { ...vote, value: 'negative' }), id)
    assert.deepEqual(await isPressed(), ['false', 'true'])

    await tabTo(page, page.getByLabel('What should we know?'))
    await page.keyboard.type('It is "wrong" 🙁')
    await checkAccessibility(page, 'an answer with a vote')
    await tabTo(page, button('Send comment'))
    await page.keyboard.press('Enter')
    const comment = 'It is "wrong" 🙁'
    assert.equal(await recorded('Thank you for your comment.', { ...vote, value: 'negative', comment }), id)

    await button('Bad answer').click()
    await page.getByRole('status').getByText('Vote withdrawn.').waitFor()
    assert.deepEqual(await isPressed(), ['false', 'false'])
    await eventually(async () => assert.deepEqual(await signals(), []))
    await page.getByLabel('What should we know?').waitFor({ state: 'hidden' })

    // Faster than the requests: the last click wins.
    for (const name of ['Good answer', 'Bad answer', 'Good answer']) await button(name).click()
    await recorded('Thank you for your vote.', { ...vote, value: 'positive' })
    assert.equal(await tenant.used(), 1)

    // Without a server, the page shows the last vote that was saved.
    await page.route('**', (route) => route.abort())
    await button('Bad answer').click()
    await page.getByRole('status').getByText('Your vote was not saved.').waitFor()
    assert.deepEqual(await isPressed(), ['true', 'false'])
  }

  test('a user of the chat server can change, explain and withdraw a vote with the keyboard', async (t) => {
    const tenant = await suite.service.tenant()
    const page = await openPage(t)
    await page.goto(await start(suite, tenant, 'chat-server/server.ts'))
    await tabTo(page, page.getByLabel('Question'))
    await page.keyboard.type('Why?')
    const answered = page.waitForResponse('**/chat')
    await page.keyboard.press('Enter')
    const { id } = await (await answered).json()
    await page.getByText('You asked: Why?').waitFor()
    await changeMind(page, tenant, id)
  })

  test('the chat server takes no vote on an answer that another user got', async () => {
    const tenant = await suite.service.tenant()
    const address = await start(suite, tenant, 'chat-server/server.ts')
    const post = (path: string, cookie: string, body: object) => {
      const headers = { 'content-type': 'application/json', cookie }
      return fetch(address + path, { method: 'POST', headers, body: JSON.stringify(body) })
    }
    const { id } = (await (await post('/chat', 'user=ada', { question: 'Why?' })).json()) as { id: string }
    const vote = { value: 'negative', comment: '' }
    assert.equal((await post(`/answers/${id}/vote`, 'user=eve', vote)).status, 404)
    assert.equal((await post(`/answers/${id}/vote`, '', vote)).status, 404)
    assert.equal((await post('/answers/none/vote', 'user=ada', vote)).status, 404)
    assert.equal((await post(`/answers/${id}/vote`, 'user=ada', { ...vote, value: 'so-so' })).status, 400)
    assert.equal((await post(`/answers/${id}/vote`, 'user=ada', vote)).status, 202)
    await eventually(async () => assert.equal(await tenant.used(), 1))
  })

  test('a user of the Next.js example can change, explain and withdraw a vote with the keyboard', async (t) => {
    const tenant = await suite.service.tenant()
    const page = await openPage(t)
    await page.goto(`${await start(suite, tenant, 'test/next-server.ts')}?output=o-1&version=${version}`)
    await changeMind(page, tenant, 'o-1')
  })
})
