import { accessSync, constants } from 'node:fs'
import { delimiter, join } from 'node:path'
import { type Browser, chromium } from 'playwright-core'

// The headless shell takes half the processor time of the whole browser.
const names = ['chromium-headless-shell', 'chromium', 'chromium-browser', 'google-chrome-stable', 'google-chrome']
const otherPaths = ['/Applications/Google Chrome.app/Contents/MacOS/Google Chrome']

/** The path of an installed Chromium or Chrome; null if there is none. */
export function findChromium(): string | null {
  const folders = (process.env.PATH ?? '').split(delimiter).filter(Boolean)
  const candidates = names.flatMap((name) => folders.map((folder) => join(folder, name)))
  return [...candidates, ...otherPaths].find(isExecutable) ?? null
}

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK)
    return true
  } catch {
    return false
  }
}

const args = [
  // Containers rarely allow the sandbox, and the browser only visits our own pages.
  '--no-sandbox',
  '--disable-gpu',
  '--in-process-gpu',
  // The browser's own requests, such as update checks, would show up as requests to other hosts.
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
  '--no-first-run',
  // A test leaves a page before optimised code pays off: a third less processor time.
  '--js-flags=--no-opt --max-lazy --single-threaded',
]

export function launch(executablePath: string): Promise<Browser> {
  return chromium.launch({ executablePath, args })
}
