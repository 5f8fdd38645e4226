import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import type { AxeResults, RunOptions } from 'axe-core'
import type { Page } from 'playwright-core'

const source = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8')
const grave = ['serious', 'critical']

declare global {
  interface Window {
    axe?: { run(options: RunOptions): Promise<AxeResults> }
  }
}

/** No serious or critical finding in what the page shows now, in light and in dark. */
export async function checkAccessibility(page: Page, what: string): Promise<void> {
  await page.emulateMedia({ colorScheme: 'light' })
  const inLight = await findings(page, {})
  await page.emulateMedia({ colorScheme: 'dark' })
  // All else is the same in the dark.
  const inDark = await findings(page, { runOnly: ['color-contrast'] })
  await page.emulateMedia({ colorScheme: 'light' })
  assert.deepEqual({ inLight, inDark }, { inLight: [], inDark: [] }, `${what} is not for everybody`)
}

async function findings(page: Page, options: RunOptions): Promise<string[]> {
  // A script tag would be against the page's policy; what is evaluated from outside is not.
  if (!(await page.evaluate(() => 'axe' in window))) await page.evaluate(source)
  const violations = await page.evaluate(async (asked) => {
    // Without preloading: it fetches style sheets to look into, which contrast and names do not need.
    const results = await window.axe?.run({ resultTypes: ['violations'], preload: false, ...asked })
    return results?.violations.map(({ id, impact, nodes }) => ({ id, impact, nodes: nodes.map(({ html }) => html) }))
  }, options)
  assert.ok(violations, 'axe did not run')
  return violations
    .filter(({ impact }) => grave.includes(impact ?? ''))
    .map(({ id, nodes }) => `${id}: ${nodes.join(' ')}`)
}
