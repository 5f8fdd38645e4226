import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import type { Browser, BrowserContextOptions, Page } from 'playwright-core'
import { Promptledger, type TimelineEntry } from '../../client/src/index.ts'
import { isBuilt } from './support/console-build.ts'
import { pictureFile, reportPicture, withBrowser } from './support/pictures.ts'

/** A picture for the README, taken of the demo by `npm run screenshots`. */
interface Picture {
  name: string
  path: string
  /** Must be visible before the picture is taken. */
  selector: string
  context: BrowserContextOptions
  /** Brings the page into the state to show. */
  prepare?: (page: Page) => Promise<void>
}

interface Demo {
  address: string
  key: string
  prompts: { id: string; changes: { entry_id: number; verdict: string }[] }[]
}

const startTimeoutMs = 300_000
const dayMs = 86_400_000
const main = fileURLToPath(new URL('../../server/src/main.ts', import.meta.url))
const desktop = (height: number, colorScheme: 'light' | 'dark' = 'light') =>
  ({ viewport: { width: 1280, height }, deviceScaleFactor: 1.5, colorScheme }) as const
const phone = { viewport: { width: 390, height: 844 }, deviceScaleFactor: 2, isMobile: true, hasTouch: true } as const

if (!isBuilt()) throw new Error('console/dist is missing or older than its sources: run `npm run build`')
const demoProcess = spawn(process.execPath, [main, 'demo', '--json', '--port', '0'], {
  stdio: ['ignore', 'pipe', 'inherit'],
})
try {
  const demo = await whenStarted(demoProcess)
  await withBrowser(async (browser) => {
    for (const picture of await picturesOf(demo)) await take(browser, demo, picture)
  })
} finally {
  demoProcess.kill()
}

/** The demo prints its address and key as the first line. */
async function whenStarted(child: ChildProcess): Promise<Demo> {
  const lines = createInterface({ input: child.stdout as NodeJS.ReadableStream })
  const signal = AbortSignal.timeout(startTimeoutMs)
  const ended = once(child, 'exit', { signal }).then(() => Promise.reject(new Error('the demo did not start')))
  const [line] = await Promise.race([once(lines, 'line', { signal }), ended])
  return JSON.parse(line)
}

/** The first picture leads the README: a change that made a prompt worse, open below the chart that shows the drop. */
async function picturesOf(demo: Demo): Promise<Picture[]> {
  const { path, change } = await findRegression(demo)
  const open = `entry=${change.entry.id}`
  return [
    {
      name: 'prompt',
      path: `${path}?${rangeUntil(change)}&${open}`,
      selector: '.diff',
      context: desktop(1_272),
      prepare: highlightOpenEntry,
    },
    { name: 'prompts', path: '/prompts', selector: '.sparkline', context: desktop(640) },
    {
      name: 'entry',
      path: `${path}?${open}`,
      selector: '.diff',
      context: desktop(640),
      prepare: (page) => page.locator('.change-panel .diff').waitFor(),
    },
    { name: 'dark', path, selector: '.chart-marker', context: desktop(800, 'dark') },
    { name: 'phone', path, selector: '.chart-marker', context: phone },
  ]
}

async function findRegression({ address, key, prompts }: Demo): Promise<{ path: string; change: TimelineEntry }> {
  const ledger = new Promptledger({ apiKey: key, baseUrl: address })
  for (const { id, changes } of prompts) {
    const worse = changes.find(({ verdict }) => verdict === 'worse')
    if (worse === undefined) continue
    for await (const item of ledger.timeline.list(id)) {
      if (item.entry.id === worse.entry_id) return { path: `/prompts/${id}`, change: item }
    }
  }
  throw new Error('no change in the demo has the verdict "worse"')
}

/**
 * Ends with the last full week (Monday to Sunday, UTC) in which the change was live. Its entry is then the newest, right below
 * the chart, and the chart's last point has no signals of the version after it.
 */
function rangeUntil({ impact }: TimelineEntry): string {
  const until = new Date(impact?.live_until as string)
  const daysSinceMonday = (until.getUTCDay() + 6) % 7
  const sunday = until.getTime() - (daysSinceMonday + 1) * dayMs
  const day = (at: number) => new Date(at).toISOString().slice(0, 10)
  return `from=${day(sunday - 190 * dayMs)}&to=${day(sunday)}`
}

async function highlightOpenEntry(page: Page): Promise<void> {
  await page.evaluate(() => window.scrollTo(0, 0))
  // Without this, a pointer that already rests on the entry does not enter it.
  await page.mouse.move(0, 0)
  await page.locator('.timeline-item[data-open="true"] .timeline-meta').hover()
  await page.locator('.chart-marker[data-highlighted="true"]').waitFor()
}

async function take(browser: Browser, demo: Demo, { name, path, selector, context, prepare }: Picture): Promise<void> {
  const browserContext = await browser.newContext({ locale: 'en-GB', timezoneId: 'UTC', ...context })
  const page = await browserContext.newPage()
  await page.goto(demo.address + path)
  await page.getByLabel('API key').fill(demo.key)
  await page.getByRole('button', { name: 'Sign in' }).click()
  await page.locator(selector).first().waitFor()
  await page.waitForLoadState('networkidle')
  await page.evaluate(() => document.fonts.ready.then(() => {}))
  // Where the button was, a row would look selected.
  await page.mouse.move(0, 0)
  await prepare?.(page)
  await page.screenshot({ path: pictureFile(name), animations: 'disabled', caret: 'hide' })
  reportPicture(name)
  await browserContext.close()
}
