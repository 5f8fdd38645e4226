import type { Browser, BrowserContextOptions, Page } from 'playwright-core'
import { timeZone } from './local-time.ts'

// Tests wait for what happens, so only a failure takes this long. A loaded machine needs seconds for one page.
const timeoutMs = 30_000

// An animation takes a frame every 16 ms, for as long as a page loads.
export const reducedMotion = 'reduce'
export const viewport = { width: 1_280, height: 720 }

/** A page with its own cookies and storage. */
export async function openPage(browser: Browser, options: BrowserContextOptions): Promise<Page> {
  const defaults = { locale: 'en-GB', timezoneId: timeZone, reducedMotion, viewport } as const
  const context = await browser.newContext({ ...defaults, ...options })
  context.setDefaultTimeout(timeoutMs)
  await context.addInitScript(reportPolicyViolations)
  return context.newPage()
}

/** Moves the time of what the page opens from now on by so many milliseconds. Timers are those of the browser. */
export async function shiftTime(page: Page, ahead: number): Promise<void> {
  await page.context().addInitScript((offset) => {
    // Another suite may have shifted it before.
    const { RealDate = Date } = globalThis as { RealDate?: DateConstructor }
    const ShiftedDate = class extends RealDate {
      constructor(...args: []) {
        if (args.length === 0) super(RealDate.now() + offset)
        else super(...args)
      }
      static override now() {
        return RealDate.now() + offset
      }
    }
    Object.assign(globalThis, { RealDate, Date: ShiftedDate })
  }, ahead)
}

/** Runs in the page: logs violations of the Content-Security-Policy as errors, which fail the test. */
function reportPolicyViolations(): void {
  document.addEventListener('securitypolicyviolation', ({ violatedDirective, blockedURI }) =>
    console.error(`policy violation: ${violatedDirective} ${blockedURI}`),
  )
}
