import { statSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import type { Browser } from 'playwright-core'
import { findChromium, launch } from './chromium.ts'

/** A document to take a picture of. */
export interface Rendered {
  width: number
  html: string
}

/** The file of a picture in the documentation. */
export function pictureFile(name: string): string {
  return fileURLToPath(new URL(`../../../docs/images/${name}.png`, import.meta.url))
}

export function reportPicture(name: string): void {
  console.log(`docs/images/${name}.png, ${Math.round(statSync(pictureFile(name)).size / 1_024)} KB`)
}

/** Runs Chromium, and ends it afterwards. */
export async function withBrowser(work: (browser: Browser) => Promise<void>): Promise<void> {
  const chromium = findChromium()
  if (chromium === null) throw new Error('Chromium is not installed (no chromium or google-chrome on the PATH)')
  const browser = await launch(chromium)
  try {
    await work(browser)
  } finally {
    await browser.close()
  }
}

/** Takes one picture for each document, named after it. */
export async function takePictures(documents: Record<string, Rendered>): Promise<void> {
  await withBrowser(async (browser) => {
    for (const [name, { width, html }] of Object.entries(documents)) {
      const context = await browser.newContext({ viewport: { width, height: 100 }, deviceScaleFactor: 1.5 })
      const tab = await context.newPage()
      await tab.setContent(html)
      await tab.screenshot({ path: pictureFile(name), fullPage: true, animations: 'disabled' })
      reportPicture(name)
      await context.close()
    }
  })
}
