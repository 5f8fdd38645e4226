import type { AddressInfo } from 'node:net'
import { after, before, describe, type TestContext, test } from 'node:test'
import type { Browser, BrowserContextOptions } from 'playwright-core'
import { sqlite } from '../../testing/engines.ts'
import { TestService } from '../../testing/service.ts'
import { builtConsole } from './built.ts'
import { findChromium, launch } from './chromium.ts'
import { Visit } from './visit.ts'
import { type Windows, windowsOf } from './windows.ts'

export interface VisitOptions extends BrowserContextOptions {
  /** Where to begin; `/` where nothing is said. */
  at?: string
  /** Signs in with it. */
  key?: string
}

export class Surroundings {
  browser!: Browser
  /** The service whose console is looked at, on the clock of the browser. */
  readonly service = new TestService()
  address = ''
  #windows!: Windows

  /** Opens the console. When the test is over, nothing may have gone wrong in the browser. */
  async visit(t: TestContext, { at = '/', key, ...options }: VisitOptions = {}): Promise<Visit> {
    const page = await this.#windows.take(options)
    const visitor = new Visit(page, this.address)
    t.after(async () => {
      await this.#windows.giveBack(page)
      visitor.end()
    })
    await visitor.open(at)
    if (key !== undefined) await visitor.signIn(key)
    return visitor
  }

  async open(chromium: string): Promise<void> {
    this.service.consoleFolder = await builtConsole()
    this.service.now = Date.now()
    // What the engines do alike is the server's business.
    await this.service.open(sqlite)
    await this.service.app.listen({ host: '127.0.0.1', port: 0 })
    this.address = `http://127.0.0.1:${(this.service.app.server.address() as AddressInfo).port}`
    this.browser = await launch(chromium)
    this.#windows = windowsOf(this.browser)
  }

  async close(): Promise<void> {
    await this.browser?.close()
    await this.service.close()
  }
}

/** Tests with the real service and a real browser. Where there is no browser, this is said; in CI it is a failure. */
export function inBrowser(subject: string, tests: (surroundings: Surroundings) => void): void {
  const chromium = findChromium()
  if (chromium === null) {
    const reason = 'Chromium is not installed (no chromium or google-chrome on the PATH)'
    test(subject, { skip: process.env.CI ? false : reason }, () => {
      throw new Error(reason)
    })
    return
  }
  describe(subject, () => {
    const surroundings = new Surroundings()
    before(() => surroundings.open(chromium))
    after(() => surroundings.close())
    tests(surroundings)
  })
}
