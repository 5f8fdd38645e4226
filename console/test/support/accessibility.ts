import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import type { AxeResults, RunOptions } from 'axe-core'
import type { Page } from 'playwright-core'

const axeSource = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8')
const failingImpacts = ['serious', 'critical']

declare global {
  interface Window {
    axe?: { run(within: Element | Document, options: RunOptions): Promise<AxeResults> }
  }
}

/** Fails if axe finds a serious or critical problem on the page, or in the dialog that is open, in the light or the dark theme. */
export async function checkAccessibility(page: Page, what: string): Promise<void> {
  const inLight = await problemsInLight(page)
  await page.emulateMedia({ colorScheme: 'dark' })
  // Only colours differ between the themes.
  const inDark = await findProblems(page, { runOnly: ['color-contrast'] })
  await page.emulateMedia({ colorScheme: 'light' })
  assert.deepEqual({ inLight, inDark }, { inLight: [], inDark: [] }, `${what} is not accessible`)
}

/** The same in the light theme alone, for a page whose colours are checked at another width. */
export async function checkLightAccessibility(page: Page, what: string): Promise<void> {
  assert.deepEqual(await problemsInLight(page), [], `${what} is not accessible`)
}

async function problemsInLight(page: Page): Promise<string[]> {
  await page.emulateMedia({ colorScheme: 'light' })
  return findProblems(page, {})
}

/** Fails if the page scrolls sideways, or a part of it is cut off at the right. */
export async function checkFits(page: Page, what: string): Promise<void> {
  const { width, cutOff } = await page.evaluate(() => {
    const isClipped = (element: Element): boolean => {
      // Cells may scroll or end in an ellipsis where the design says so; the rest has to be whole.
      for (let box = element.parentElement; box !== null; box = box.parentElement) {
        if (getComputedStyle(box).overflowX !== 'visible') return true
      }
      return false
    }
    const beyond = [...document.body.querySelectorAll('*')].filter(
      (element) => element.getBoundingClientRect().right > window.innerWidth + 1 && !isClipped(element),
    )
    return {
      width: document.documentElement.scrollWidth - window.innerWidth,
      cutOff: beyond.map((element) => element.outerHTML.slice(0, 120)),
    }
  })
  assert.ok(width <= 0, `${what} scrolls sideways by ${width} px: ${cutOff.join(' ')}`)
  assert.deepEqual(cutOff, [], `${what} is cut off`)
}

async function findProblems(page: Page, options: RunOptions): Promise<string[]> {
  // The Content-Security-Policy blocks a script tag, but not evaluation by the test.
  if (!(await page.evaluate(() => 'axe' in window))) await page.evaluate(axeSource)
  const violations = await page.evaluate(async (runOptions) => {
    // Nothing behind an open dialog can be reached.
    const within = document.querySelector('dialog[open]') ?? document
    // Preloading fetches the style sheets again, which these rules do not need.
    const results = await window.axe?.run(within, { resultTypes: ['violations'], preload: false, ...runOptions })
    return results?.violations.map(({ id, impact, nodes }) => ({ id, impact, nodes: nodes.map(({ html }) => html) }))
  }, options)
  assert.ok(violations, 'axe did not run')
  return violations
    .filter(({ impact }) => failingImpacts.includes(impact ?? ''))
    .map(({ id, nodes }) => `${id}: ${nodes.join(' ')}`)
}
