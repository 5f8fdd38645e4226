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

type Theme = 'light' | 'dark'

/** Fails if axe finds a serious or critical problem on the page, or in the dialog that is open, in one of the themes. */
export async function checkAccessibility(page: Page, what: string, themes: Theme[] = ['light', 'dark']): Promise<void> {
  const found = new Map<Theme, string[]>()
  for (const theme of themes) {
    await page.emulateMedia({ colorScheme: theme })
    // Only colours differ between the themes.
    found.set(theme, await findProblems(page, found.size === 0 ? {} : { runOnly: ['color-contrast'] }))
  }
  await page.emulateMedia({ colorScheme: 'light' })
  assert.deepEqual(
    [...found],
    themes.map((theme) => [theme, []]),
    `${what} is not accessible`,
  )
}

/** A phone and a desktop, each in a theme of its own: the other width has the same colours, and the other theme the same structure. */
export const looks = [
  { width: 375, theme: 'dark' },
  { width: 1_280, theme: 'light' },
] as const

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
