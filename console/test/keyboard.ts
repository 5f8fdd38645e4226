import assert from 'node:assert/strict'
import type { Locator, Page } from 'playwright-core'
import { eventually } from '../../testing/eventually.ts'

const most = 80

/** Goes on by Tab until the element has the focus. Wherever the focus comes by, it can be seen. */
export async function tabTo(page: Page, element: Locator, key: 'Tab' | 'Shift+Tab' = 'Tab'): Promise<void> {
  await element.waitFor()
  for (let i = 0; i < most; i++) {
    await page.keyboard.press(key)
    await checkFocusIsSeen(page)
    if (await hasFocus(element)) return
  }
  assert.fail(`${element} is not reached by ${key}`)
}

export function hasFocus(element: Locator): Promise<boolean> {
  return element.evaluate((found) => found === document.activeElement)
}

export async function eventuallyHasFocus(element: Locator): Promise<void> {
  await eventually(async () => assert.ok(await hasFocus(element), `${element} does not have the focus`))
}

async function checkFocusIsSeen(page: Page): Promise<void> {
  const { name, outline, inSight } = await page.evaluate(() => {
    const element = document.activeElement ?? document.body
    const { outlineStyle, outlineWidth } = getComputedStyle(element)
    const { top, bottom, left, right } = element.getBoundingClientRect()
    // Within a field for dates, the browser's own button has the focus, with a ring of the browser's own.
    const isWithin = !element.matches(':focus')
    const isOutlined = outlineStyle !== 'none' && Number.parseFloat(outlineWidth) >= 1
    return {
      name: element.outerHTML.slice(0, 120),
      outline: element === document.body || isWithin || isOutlined,
      inSight: bottom > 0 && top < innerHeight && right > 0 && left < innerWidth,
    }
  })
  assert.ok(outline, `one cannot see that the focus is on ${name}`)
  assert.ok(inSight, `what has the focus is out of sight: ${name}`)
}
