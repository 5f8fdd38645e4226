import type { Browser, BrowserContextOptions, Page } from 'playwright-core'
import { timeZone } from './local-time.ts'

// Tests wait for what happens, so only a failure takes this long. A loaded machine needs seconds for one page.
const timeoutMs = 30_000

// An animation takes a frame every 16 ms, for as long as a page loads.
export const reducedMotion = 'reduce'
export const viewport = { width: 1_280, height: 720 }

/** A page with its own cookies and storage, at a time of its own. */
export async function openPage(browser: Browser, now: number, options: BrowserContextOptions): Promise<Page> {
  const defaults = { locale: 'en-GB', timezoneId: timeZone, reducedMotion, viewport } as const
  const context = await browser.newContext({ ...defaults, ...options })
  context.setDefaultTimeout(timeoutMs)
  await context.addInitScript(shiftTime, now - Date.now())
  await context.addInitScript(reportPolicyViolations)
  return context.newPage()
}

/** Runs in the page: moves its time by so many milliseconds. Timers are those of the browser. */
function shiftTime(offset: number): void {
  const RealDate = Date
  globalThis.Date = class extends RealDate {
    constructor(...args: []) {
      if (args.length === 0) super(RealDate.now() + offset)
      else super(...args)
    }
    static override now() {
      return RealDate.now() + offset
    }
  } as DateConstructor
}

/** Runs in the page: logs violations of the Content-Security-Policy as errors, which fail the test. */
function reportPolicyViolations(): void {
  document.addEventListener('securitypolicyviolation', ({ violatedDirective, blockedURI }) =>
    console.error(`policy violation: ${violatedDirective} ${blockedURI}`),
  )
}
