import type { Browser, BrowserContextOptions, Page } from 'playwright-core'

const patience = 10_000

/** Windows of a browser, each with cookies and storage of its own. */
export interface Windows {
  /** A window that nobody has, and that remembers nothing. */
  take(options: BrowserContextOptions): Promise<Page>
  giveBack(page: Page): Promise<void>
}

/** A new window takes longer than most tests. So one without wishes, once it is given back, is used again. */
export function windowsOf(browser: Browser): Windows {
  const free: Page[] = []
  const unusual = new Set<Page>()

  async function open(options: BrowserContextOptions): Promise<Page> {
    const context = await browser.newContext({ locale: 'en-GB', timezoneId: 'Europe/Berlin', ...options })
    context.setDefaultTimeout(patience)
    await context.addInitScript(tellOfViolations)
    return context.newPage()
  }

  return {
    async take(options) {
      const isUnusual = Object.keys(options).length > 0
      const page = (isUnusual ? undefined : free.pop()) ?? (await open(options))
      if (isUnusual) unusual.add(page)
      return page
    },

    async giveBack(page) {
      if (unusual.has(page)) return page.context().close()
      await forget(page)
      free.push(page)
    },
  }
}

/** Leaves the page, and makes the browser forget all that it kept for it. */
async function forget(page: Page): Promise<void> {
  const { origin } = new URL(page.url())
  await page.goto('about:blank')
  await page.unrouteAll()
  await page.emulateMedia({ colorScheme: null })
  const session = await page.context().newCDPSession(page)
  await session.send('Storage.clearDataForOrigin', { origin, storageTypes: 'all' })
  await session.detach()
}

/** Runs in the page: what its policy forbids becomes an error like any other. */
function tellOfViolations(): void {
  document.addEventListener('securitypolicyviolation', ({ violatedDirective, blockedURI }) =>
    console.error(`against the policy: ${violatedDirective} ${blockedURI}`),
  )
}
