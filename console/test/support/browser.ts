import { after, before, describe, type TestContext, test } from 'node:test'
import type { Browser, BrowserContextOptions, Page } from 'playwright-core'
import { sqlite } from '../../../testing/engines.ts'
import { freePort } from '../../../testing/free-port.ts'
import { without } from '../../../testing/installed-tools.ts'
import { TestService } from '../../../testing/service.ts'
import { findChromium, launch } from './chromium.ts'
import { builtConsole } from './console-build.ts'
import { openPage, reducedMotion, shiftTime, viewport as usualViewport } from './page.ts'
import { Visitor } from './visitor.ts'

export interface VisitOptions extends BrowserContextOptions {
  /** The path to open; `/` by default. */
  at?: string
  /** Signs in with this key. */
  key?: string
  /** Error responses to allow from the start, such as `404 GET /unknown`. */
  errors?: string[]
  /** For a test that changes more of its page than `#leave` undoes, such as its clock. */
  isLast?: boolean
}

/** A service with the built console, and a browser to visit it with. */
export class BrowserSuite {
  browser!: Browser
  readonly service = new TestService()
  address = ''
  #ahead = 0

  /** Opens the console; with a key, until the page has all its data. After the test, any unexpected error in the browser fails it. */
  async visit(
    t: TestContext,
    { at = '/', key, errors = [], isLast = false, viewport, permissions, colorScheme, ...options }: VisitOptions = {},
  ): Promise<Visitor> {
    const kept = keptPages(options)
    const { page, ahead } = kept.pop() ?? { page: await openPage(this.browser, options), ahead: null }
    if (ahead !== this.#ahead) await shiftTime(page, this.#ahead)
    // Not of the context, which every page with such options would need for itself.
    if (viewport != null) await page.setViewportSize(viewport)
    if (permissions !== undefined) await page.context().grantPermissions(permissions)
    if (colorScheme !== undefined) await page.emulateMedia({ colorScheme })
    const visitor = new Visitor(page, this.address)
    visitor.expectErrors(...errors)
    t.after(async () => {
      try {
        // First, because closing removes the cookies before it stops the page, whose next request is then answered with 401.
        visitor.end()
      } finally {
        if (isLast) await page.context().close()
        else {
          await this.#leave(page)
          kept.push({ page, ahead: this.#ahead })
        }
      }
    })
    if (key !== undefined) await visitor.startSession(key)
    await visitor.open(at)
    if (key !== undefined) await visitor.settle()
    return visitor
  }

  /** Leaves nothing of a test in its page. */
  async #leave(page: Page): Promise<void> {
    await page.unrouteAll({ behavior: 'ignoreErrors' })
    for (const event of ['load', 'request', 'requestfinished', 'response']) await page.removeAllListeners(event)
    // Any response will do that has the origin of the console, whose page is gone then.
    await page.goto(`${this.address}/api/v1`)
    const session = await page.context().newCDPSession(page)
    await session.send('Page.resetNavigationHistory')
    await Promise.all([
      session.detach(),
      page.evaluate(() => {
        localStorage.clear()
        sessionStorage.clear()
      }),
      page.context().clearCookies(),
      page.context().clearPermissions(),
      page.setViewportSize(usualViewport),
      page.emulateMedia({ media: null, colorScheme: null, reducedMotion }),
    ])
  }

  /**
   * The time in the browser. It starts with the service's, which is the same in every run: dates in the browser's time zone
   * differ from those in UTC for some hours of a day.
   */
  time(): number {
    return Date.now() + this.#ahead
  }

  /** Sends a GET request to the API. */
  async request(key: string, path: string): Promise<Response> {
    return fetch(`${this.address}/api/v1${path}`, { headers: { authorization: `Bearer ${key}` } })
  }

  async open(chromium: string): Promise<void> {
    this.service.consoleFolder = await builtConsole()
    this.#ahead = this.service.now - Date.now()
    // The console does not depend on the engine. The server's tests compare the two.
    await this.service.open(sqlite)
    port ??= await freePort()
    await this.service.app.listen({ host: '127.0.0.1', port })
    this.address = `http://127.0.0.1:${port}`
    launched ??= launch(chromium)
    this.browser = await launched
  }

  async close(): Promise<void> {
    // The browser stays, and keeps connections on which it has sent nothing yet.
    this.service.app.server.closeAllConnections()
    await this.service.close()
  }
}

// Suites that share a process share the browser.
let launched: Promise<Browser> | undefined
// They follow each other on one port: a page that leaves its origin starts a process.
let port: number | undefined

/**
 * Left by earlier tests, by their options. A new one starts a process that compiles all scripts, which takes more than the first visit
 * itself.
 */
const pages = new Map<string, KeptPage[]>()

interface KeptPage {
  page: Page
  /** The time in it, relative to the real one. */
  ahead: number
}

function keptPages(options: BrowserContextOptions): KeptPage[] {
  const name = JSON.stringify(options)
  const kept = pages.get(name) ?? []
  pages.set(name, kept)
  return kept
}

after(async () => (await launched)?.close())

/** Declares tests against the real service in a real browser. Without Chromium they are skipped. */
export function inBrowser(subject: string, tests: (suite: BrowserSuite) => void): void {
  const chromium = findChromium()
  if (chromium === null) {
    test(subject, { skip: without('chromium') })
    return
  }
  describe(subject, () => {
    const suite = new BrowserSuite()
    before(() => suite.open(chromium))
    after(() => suite.close())
    tests(suite)
  })
}
