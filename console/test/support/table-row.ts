import type { Locator, Page } from 'playwright-core'

/** The table rows that contain the text. */
export function rowWith(page: Page, text: string): Locator {
  return page.locator('tbody tr').filter({ hasText: text })
}
