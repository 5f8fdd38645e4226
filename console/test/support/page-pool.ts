import type { Browser, BrowserContextOptions, Page } from 'playwright-core'
import { timeZone } from './local-time.ts'

const timeoutMs = 10_000

/** Browser pages, each with its own cookies and storage. */
export interface PagePool {
  /** A page without cookies or stored data. */
  acquire(options: BrowserContextOptions): Promise<Page>
  release(page: Page): Promise<void>
}

/** Opening a page takes longer than most tests, so pages with default options are cleared and reused. */
export function createPagePool(browser: Browser): PagePool {
  const free: Page[] = []
  const customised = new Set<Page>()

  async function open(options: BrowserContextOptions): Promise<Page> {
    const context = await browser.newContext({ locale: 'en-GB', timezoneId: timeZone, ...options })
    context.setDefaultTimeout(timeoutMs)
    await context.addInitScript(reportPolicyViolations)
    return context.newPage()
  }

  return {
    async acquire(options) {
      const isCustomised = Object.keys(options).length > 0
      const page = (isCustomised ? undefined : free.pop()) ?? (await open(options))
      if (isCustomised) customised.add(page)
      return page
    },

    async release(page) {
      if (customised.has(page)) return page.context().close()
      await clear(page)
      free.push(page)
    },
  }
}

/** Leaves the page and deletes everything that the browser stored for it. */
async function clear(page: Page): Promise<void> {
  const { origin } = new URL(page.url())
  await page.goto('about:blank')
  await page.unrouteAll()
  await page.emulateMedia({ colorScheme: null })
  const session = await page.context().newCDPSession(page)
  await session.send('Storage.clearDataForOrigin', { origin, storageTypes: 'all' })
  await session.detach()
}

/** Runs in the page: logs violations of the Content-Security-Policy as errors, which fail the test. */
function reportPolicyViolations(): void {
  document.addEventListener('securitypolicyviolation', ({ violatedDirective, blockedURI }) =>
    console.error(`policy violation: ${violatedDirective} ${blockedURI}`),
  )
}
