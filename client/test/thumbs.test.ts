import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Locator, Page } from 'playwright-core'
import { checkAccessibility } from '../../console/test/support/accessibility.ts'
import { inBrowser } from '../../console/test/support/browser.ts'
import { tabTo } from '../../console/test/support/keyboard.ts'
import { eventually } from '../../testing/eventually.ts'
import type { ReceivedRequest } from '../../testing/http-proxy.ts'
import { bad, eventsOf, good, hourMs, pressed, status, useThumbsPages, version } from './support/thumbs-pages.ts'

const unavailable = { do: 'respond', status: 503 } as const
const cors = { 'Access-Control-Allow-Origin': '*', 'Access-Control-Expose-Headers': 'Retry-After' }

inBrowser('Thumbs in a page', (suite) => {
  const { proxy, createApplication, open, recorded } = useThumbsPages(suite)

  test('a vote from a page of another origin is stored with the version and the voter of its token', async () => {
    const application = await createApplication()
    const page = await open(application)
    await good(page).click()
    await status(page, 'Thank you for your vote.')
    const { subject, version: storedVersion, voter } = await recorded(application, 'positive')
    assert.deepEqual([subject, storedVersion], ['answer-1', version])
    assert.match(String(voter), /^[\w-]{43}$/)
    assert.deepEqual(await eventsOf(page), [['vote', { value: 'positive', comment: '' }]])
    const [request, ...others] = proxy.requests as [ReceivedRequest, ...ReceivedRequest[]]
    // No preflight, which would be another request.
    assert.deepEqual([request.method, request.url, others], ['POST', '/api/v1/votes', []])
    assert.deepEqual([request.headers.cookie, request.headers.authorization], [undefined, undefined])
  })

  test('a user can change, explain and withdraw a vote with the keyboard', async () => {
    const application = await createApplication()
    const page = await open(application, { attributes: 'comment' })
    await checkAccessibility(page, 'an element without a vote')
    await tabTo(page, good(page))
    await page.keyboard.press('Enter')
    const { id } = await recorded(application, 'positive')
    assert.deepEqual(await pressed(page), ['true', 'false'])

    await tabTo(page, bad(page))
    await page.keyboard.press('Space')
    assert.equal((await recorded(application, 'negative')).id, id)
    assert.deepEqual(await pressed(page), ['false', 'true'])

    await tabTo(page, page.getByLabel('What should we know?'))
    await page.keyboard.type(' It is "wrong" 🙁\n<b>very</b> ')
    await checkAccessibility(page, 'an element with a vote')
    await tabTo(page, page.getByRole('button', { name: 'Send comment' }))
    await page.keyboard.press('Enter')
    await status(page, 'Thank you for your comment.')
    const comment = 'It is "wrong" 🙁\n<b>very</b>'
    assert.equal((await recorded(application, 'negative', comment)).id, id)

    // Changing the vote keeps the comment, and withdrawing it does not.
    await good(page).click()
    await recorded(application, 'positive', comment)
    await good(page).click()
    await status(page, 'Vote withdrawn.')
    await eventually(async () => assert.deepEqual(await application.signals(), []))
    assert.deepEqual(await pressed(page), ['false', 'false'])
    await page.getByLabel('What should we know?').waitFor({ state: 'hidden' })
    await bad(page).click()
    await recorded(application, 'negative')
    assert.equal(await page.getByLabel('What should we know?').inputValue(), '')
  })

  test('the last of several fast clicks is the vote', async () => {
    const application = await createApplication()
    const page = await open(application)
    await page.locator('promptledger-thumbs').evaluate(({ shadowRoot }) => {
      const [good, bad] = shadowRoot?.querySelectorAll('button') ?? []
      for (const button of [good, bad, good, bad]) button?.click()
    })
    await status(page, 'Thank you for your vote.')
    await recorded(application, 'negative')
    // Those in between were never sent.
    assert.deepEqual(valuesOf(proxy.requests), ['positive', 'negative'])
  })

  test('a vote that the browser has not sent yet arrives after the page is closed', async () => {
    const application = await createApplication()
    const page = await open(application)
    proxy.fate = (_index, { body }) => (body === '{}' ? { do: 'stall', after: 1 } : { do: 'pass' })
    // All connections that the browser opens to one host for requests without cookies are busy until the page is gone.
    await page.evaluate((url) => {
      for (let i = 0; i < 6; i++) fetch(url, { method: 'POST', body: '{}', credentials: 'omit' }).catch(() => {})
    }, `${proxy.address}/api/v1/votes`)
    await eventually(() => assert.equal(proxy.requests.length, 6))
    await good(page).click()
    await page.goto('about:blank')
    await recorded(application, 'positive')
  })

  test('a vote that the service has not confirmed is sent again when the page is closed', async () => {
    const application = await createApplication()
    const page = await open(application, { attributes: 'comment' })
    // Only what is sent by navigator.sendBeacon reaches the service.
    proxy.fate = (_index, { headers }) => (headers['sec-fetch-mode'] === 'no-cors' ? { do: 'pass' } : unavailable)
    await bad(page).click()
    await status(page, 'Not sent yet. Trying again…')
    await page.getByLabel('What should we know?').fill('Zu lang 🙁')
    await page.getByRole('button', { name: 'Send comment' }).click()
    await page.close({ runBeforeUnload: true })
    await recorded(application, 'negative', 'Zu lang 🙁')
  })

  test('when the page is closed, a vote replaces the one before it, whose request is still under way', async () => {
    const application = await createApplication()
    const page = await open(application)
    proxy.first({ do: 'ignore' })
    await good(page).click()
    await recorded(application, 'positive')
    await bad(page).click()
    await page.goto('about:blank')
    await recorded(application, 'negative')
    assert.deepEqual(valuesOf(proxy.requests).slice(0, 2), ['positive', 'negative'])
  })

  test('a page that goes to the background sends the last vote at once, and cancels the request with the one before it', async () => {
    const application = await createApplication()
    const page = await open(application, { stopTimers: true })
    proxy.first({ do: 'ignore' })
    await good(page).click()
    await recorded(application, 'positive')
    await bad(page).click()
    await page.evaluate(() => {
      Object.defineProperty(document, 'hidden', { value: true })
      document.dispatchEvent(new Event('visibilitychange'))
    })
    await recorded(application, 'negative')
    await status(page, 'Thank you for your vote.')
    // By sendBeacon, and by the page, which is still there.
    await eventually(() => assert.deepEqual(valuesOf(proxy.requests), ['positive', 'negative', 'negative']))
  })

  test('of the votes in two tabs the last one counts, and neither tab shows an error', async () => {
    const application = await createApplication()
    const first = await open(application)
    const second = await first.context().newPage()
    await second.goto(first.url())
    await good(first).click()
    await recorded(application, 'positive')
    await bad(second).click()
    await recorded(application, 'negative')
    // Both withdraw the same vote.
    await good(first).click()
    await status(first, 'Vote withdrawn.')
    await bad(second).click()
    await status(second, 'Vote withdrawn.')
    assert.deepEqual(await application.signals(), [])
    await good(second).click()
    await recorded(application, 'positive')
    await status(second, 'Thank you for your vote.')
    const types = [...(await eventsOf(first)), ...(await eventsOf(second))].map(([type]) => type)
    assert.deepEqual(types, Array(5).fill('vote'))
  })

  test('a vote that was cast offline is sent when the browser is online again', async () => {
    const application = await createApplication()
    const page = await open(application, { stopTimers: true })
    await page.context().setOffline(true)
    await good(page).click()
    await status(page, 'Not sent yet. Trying again…')
    await bad(page).click()
    await status(page, 'Not sent yet. Trying again…')
    assert.deepEqual(await pressed(page), ['false', 'true'])
    assert.deepEqual(proxy.requests, [])
    await page.context().setOffline(false)
    await status(page, 'Thank you for your vote.')
    await recorded(application, 'negative')
    assert.deepEqual(valuesOf(proxy.requests), ['negative'])
  })

  test('a vote is sent again, at growing intervals, until the service responds', async () => {
    const application = await createApplication()
    const page = await open(application, { stopTimers: true })
    const busy = { do: 'respond', status: 429, headers: { ...cors, 'Retry-After': '20' } } as const
    proxy.first(unavailable, busy, unavailable)
    await page.evaluate(() => {
      const { fetch } = window
      window.sent = 0
      window.answered = 0
      window.fetch = (...request) => {
        window.sent++
        return fetch(...request).finally(() => window.answered++)
      }
    })
    await good(page).click()
    // Between half of the delay and all of it.
    for (const [retries, delayMs] of [1_000, 2_000, 4_000].entries()) {
      // Time that passes before the page has the response is no part of the delay.
      await eventually(async () => assert.equal(await page.evaluate(() => window.answered), retries + 1))
      await status(page, 'Not sent yet. Trying again…')
      await page.clock.runFor(delayMs * 0.4)
      const sent = () => page.evaluate(() => window.sent)
      assert.equal(await sent(), retries + 1)
      // In steps that end with the request: a response that arrives while the clock runs would start the next delay early.
      for (let passedMs = delayMs * 0.4; passedMs < delayMs && (await sent()) === retries + 1; passedMs += delayMs / 40)
        await page.clock.runFor(delayMs / 40)
      await eventually(() => assert.equal(proxy.requests.length, retries + 2))
    }
    await status(page, 'Thank you for your vote.')
    await recorded(application, 'positive')
    assert.deepEqual(valuesOf(proxy.requests), Array(4).fill('positive'))
    assert.deepEqual(await eventsOf(page), [['vote', { value: 'positive', comment: '' }]])
  })

  test('a vote continues to be sent after its element is gone', async () => {
    const application = await createApplication()
    const page = await open(application, { stopTimers: true })
    proxy.first(unavailable)
    await good(page).click()
    await status(page, 'Not sent yet. Trying again…')
    await page.evaluate(() => document.querySelector('promptledger-thumbs')?.remove())
    await page.clock.runFor(1_000)
    await recorded(application, 'positive')
  })

  test('a rejected vote shows the last one that was stored, and is sent again with a new token, once', async (t) => {
    const application = await createApplication()
    const page = await open(application)
    await good(page).click()
    await recorded(application, 'positive')
    await status(page, 'Thank you for your vote.')

    suite.service.now += 2 * hourMs
    t.after(() => {
      suite.service.now -= 2 * hourMs
    })
    await bad(page).click()
    await status(page, 'Your vote was not saved.')
    assert.deepEqual(await pressed(page), ['true', 'false'])
    const [type, { status: code, ...error }] = (await eventsOf(page)).at(-1) as [string, Record<string, unknown>]
    assert.deepEqual([type, code, error.code], ['error', 401, 'unauthorized'])
    assert.match(String(error.message), /Sign a new one/)

    // This one has expired too.
    await setToken(page, await application.sign())
    await eventually(async () => assert.equal((await eventsOf(page)).length, 3))
    await setToken(page, await application.sign())
    await setToken(page, await application.sign())
    suite.service.now -= 2 * hourMs
    await bad(page).click()
    await recorded(application, 'negative')
    suite.service.now += 2 * hourMs
    assert.deepEqual(valuesOf(proxy.requests), ['positive', 'negative', 'negative', 'negative'])
    assert.deepEqual(await pressed(page), ['false', 'true'])

    await good(page).click()
    await status(page, 'Your vote was not saved.')
    suite.service.now -= 2 * hourMs
    await setToken(page, await application.sign())
    await recorded(application, 'positive')
    await status(page, 'Thank you for your vote.')
    suite.service.now += 2 * hourMs
  })

  test('a vote over the monthly limit is rejected without a retry', async () => {
    const application = await createApplication()
    await application.tenant.fillMonth(1_000)
    const page = await open(application, { stopTimers: true })
    await good(page).click()
    await status(page, 'Your vote was not saved.')
    await page.clock.runFor(hourMs)
    assert.equal(proxy.requests.length, 1)
    assert.deepEqual(
      (await eventsOf(page)).map(([type, detail]) => [type, (detail as { code: string }).code]),
      [['error', 'rate_limited']],
    )
  })

  test('the token of another output starts without a vote, or with the one that the page names', async () => {
    const application = await createApplication()
    const page = await open(application)
    await good(page).click()
    await recorded(application, 'positive')
    await setToken(page, await application.sign('answer-2'))
    assert.deepEqual(await pressed(page), ['false', 'false'])
    await status(page, '')
    await page.locator('promptledger-thumbs').evaluate((element) => element.setAttribute('value', 'negative'))
    assert.deepEqual(await pressed(page), ['false', 'true'])
    await bad(page).click()
    await status(page, 'Vote withdrawn.')
    // The vote on the other output is untouched.
    await recorded(application, 'positive')
  })

  test('without a token, the buttons are disabled', async () => {
    const page = await open(await createApplication())
    await page.locator('promptledger-thumbs').evaluate((element) => element.removeAttribute('token'))
    assert.deepEqual([await good(page).isDisabled(), await bad(page).isDisabled()], [true, true])
  })

  test('every text can be translated, and none is interpreted as HTML', async () => {
    const texts = ['group', 'positive', 'negative', 'comment', 'send', 'voted', 'commented', 'withdrawn']
    const hostile = (name: string) => `${name} &lt;img src=x onerror=alert(1)&gt;`
    const attributes = texts.map((name) => `label-${name}="${hostile(name)}"`).join(' ')
    const application = await createApplication()
    const page = await open(application, { attributes: `${attributes} comment` })
    const text = (name: string) => `${name} <img src=x onerror=alert(1)>`
    await page.getByRole('group', { name: text('group') }).waitFor()
    await page.getByRole('button', { name: text('positive') }).click()
    await status(page, text('voted'))
    await page.getByLabel(text('comment')).fill('x')
    await page.getByRole('button', { name: text('send') }).click()
    await status(page, text('commented'))
    await page.getByRole('button', { name: text('positive') }).click()
    await status(page, text('withdrawn'))
    assert.equal(await page.locator('img').count(), 0)
  })

  test('nothing moves for users who prefer reduced motion, and buttons are large enough to touch', async () => {
    const application = await createApplication()
    const style = (page: Page) =>
      good(page).evaluate((button) => {
        return [getComputedStyle(button).transitionDuration, button.getBoundingClientRect().height >= 44]
      })
    const animated = await open(application)
    assert.notEqual((await style(animated))[0], '0s')
    const reduced = await open(application, { reducedMotion: 'reduce', hasTouch: true, isMobile: true })
    assert.deepEqual(await style(reduced), ['0s', true])
  })

  test('a pressed button differs from others where the system sets all colours', async () => {
    const page = await open(await createApplication(), { forcedColors: 'active' })
    await good(page).click()
    const isHighlighted = (button: Locator) =>
      button.evaluate((element) => {
        const probe = document.body.appendChild(document.createElement('i'))
        probe.style.backgroundColor = 'Highlight'
        return getComputedStyle(element).backgroundColor === getComputedStyle(probe).backgroundColor
      })
    await eventually(async () => assert.ok(await isHighlighted(good(page))))
    assert.ok(!(await isHighlighted(bad(page))))
  })
})

function setToken(page: Page, token: string): Promise<void> {
  return page.locator('promptledger-thumbs').evaluate((element, text) => element.setAttribute('token', text), token)
}

function valuesOf(requests: ReceivedRequest[]): unknown[] {
  return requests.map(({ body }) => JSON.parse(body).value)
}
