import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, statSync } from 'node:fs'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import type { Browser, BrowserContextOptions, Page } from 'playwright-core'
import { findChromium, launch } from './support/chromium.ts'
import { isBuilt } from './support/console-build.ts'

/** The pictures of the README, taken of the demonstration: `npm run screenshots`. */
interface Picture {
  name: string
  at: string
  /** What must be there before it is taken. */
  sign: string
  context: BrowserContextOptions
  /** What to bring to the top. */
  from?: string
}

interface Demo {
  address: string
  key: string
  prompts: { id: string; changes: { entry_id: number; verdict: string }[] }[]
}

const folder = fileURLToPath(new URL('../../docs/images/', import.meta.url))
const main = fileURLToPath(new URL('../../server/src/main.ts', import.meta.url))
const desk = (height: number, colorScheme: 'light' | 'dark' = 'light') =>
  ({ viewport: { width: 1280, height }, deviceScaleFactor: 1.5, colorScheme }) as const
const phone = { viewport: { width: 390, height: 844 }, deviceScaleFactor: 2, isMobile: true, hasTouch: true } as const

const chromium = findChromium()
if (chromium === null) throw new Error('Chromium is not installed (no chromium or google-chrome on the PATH)')
if (!isBuilt()) throw new Error('console/dist is missing or older than its sources: run `npm run build`')
mkdirSync(folder, { recursive: true })
const demonstration = spawn(process.execPath, [main, 'demo', '--json', '--port', '0'], {
  stdio: ['ignore', 'pipe', 'inherit'],
})
try {
  const demo = await told(demonstration)
  const browser = await launch(chromium)
  try {
    for (const picture of picturesOf(demo)) await take(browser, demo, picture)
  } finally {
    await browser.close()
  }
} finally {
  demonstration.kill()
}

/** Waits until it says where it is, in its first line. */
async function told(child: ChildProcess): Promise<Demo> {
  const lines = createInterface({ input: child.stdout as NodeJS.ReadableStream })
  const ended = once(child, 'exit').then(() => Promise.reject(new Error('the demonstration did not start')))
  const [line] = await Promise.race([once(lines, 'line'), ended])
  return JSON.parse(line)
}

function picturesOf({ prompts }: Demo): Picture[] {
  const told = prompts.flatMap(({ id, changes }) => {
    const change = changes.find(({ verdict }) => verdict === 'worse')
    return change === undefined ? [] : [{ at: `/prompts/${id}`, entry: change.entry_id }]
  })
  const [{ at, entry }] = told as [(typeof told)[0]]
  return [
    { name: 'prompts', at: '/prompts', sign: '.sparkline', context: desk(430) },
    { name: 'prompt', at, sign: '.chart-marker', context: desk(800) },
    { name: 'entry', at: `${at}?entry=${entry}`, sign: '.diff', context: desk(640), from: '.timeline-item:has(.diff)' },
    { name: 'dark', at, sign: '.chart-marker', context: desk(800, 'dark') },
    { name: 'phone', at, sign: '.chart-marker', context: phone },
  ]
}

async function take(browser: Browser, { address, key }: Demo, { name, at, sign, context, from }: Picture) {
  const visitor = await browser.newContext({ locale: 'en-GB', timezoneId: 'UTC', ...context })
  const page = await visitor.newPage()
  await page.goto(address + at)
  await page.getByLabel('API key').fill(key)
  await page.getByRole('button', { name: 'Sign in' }).click()
  await page.locator(sign).first().waitFor()
  if (from !== undefined) await page.locator(from).evaluate((element) => element.scrollIntoView())
  await nothingMoves(page)
  const path = `${folder}${name}.png`
  await page.screenshot({ path, animations: 'disabled', caret: 'hide' })
  console.log(`docs/images/${name}.png, ${Math.round(statSync(path).size / 1_024)} KB`)
  await visitor.close()
}

/** Whatever was asked for has come, and is drawn. */
async function nothingMoves(page: Page): Promise<void> {
  await page.waitForLoadState('networkidle')
  await page.evaluate(() => document.fonts.ready.then(() => {}))
}
