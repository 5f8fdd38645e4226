import type { AddressInfo } from 'node:net'
import { after, before, describe, type TestContext, test } from 'node:test'
import type { Browser } from 'playwright-core'
import { type Engine, engines } from '../../server/test/engines.ts'
import { TestService } from '../../server/test/service.ts'
import { builtConsole } from './built.ts'
import { findChromium, launch } from './chromium.ts'
import { type Visit, type VisitOptions, visit } from './visit.ts'

export class Surroundings {
  browser!: Browser
  /** The service whose console is looked at, on the clock of the browser. */
  readonly service = new TestService()
  address = ''

  visit(t: TestContext, options: VisitOptions = {}): Promise<Visit> {
    return visit(t, this.browser, this.address, options)
  }

  async open(chromium: string): Promise<void> {
    this.service.consoleFolder = builtConsole()
    this.service.now = Date.now()
    // What the engines do alike is the server's business.
    await this.service.open(engines[0] as Engine)
    await this.service.app.listen({ host: '127.0.0.1', port: 0 })
    this.address = `http://127.0.0.1:${(this.service.app.server.address() as AddressInfo).port}`
    this.browser = await launch(chromium)
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
