import assert from 'node:assert/strict'
import type { Locator, Page } from 'playwright-core'
import { eventually } from '../../../testing/eventually.ts'

const maxPresses = 80

/** Presses Tab until the element has the focus. Every stop on the way must have a visible focus ring. */
export async function tabTo(page: Page, element: Locator, key: 'Tab' | 'Shift+Tab' = 'Tab'): Promise<void> {
  await element.waitFor()
  for (let i = 0; i < maxPresses; i++) {
    await page.keyboard.press(key)
    await checkFocusIsVisible(page)
    if (await hasFocus(element)) return
  }
  assert.fail(`${key} does not reach ${element}`)
}

function hasFocus(element: Locator): Promise<boolean> {
  return element.evaluate((node) => node === (node.getRootNode() as Document | ShadowRoot).activeElement)
}

export async function eventuallyHasFocus(element: Locator): Promise<void> {
  await eventually(async () => assert.ok(await hasFocus(element), `${element} does not have the focus`))
}

async function checkFocusIsVisible(page: Page): Promise<void> {
  const { name, isOutlined, isInView } = await page.evaluate(() => {
    let element = document.activeElement ?? document.body
    while (element.shadowRoot?.activeElement) element = element.shadowRoot.activeElement
    const { outlineStyle, outlineWidth } = getComputedStyle(element)
    const { top, bottom, left, right } = element.getBoundingClientRect()
    // Inside a date field, the browser's own button has the focus and a focus ring of its own.
    const isInsideField = !element.matches(':focus')
    const hasOutline = outlineStyle !== 'none' && Number.parseFloat(outlineWidth) >= 1
    return {
      name: element.outerHTML.slice(0, 120),
      isOutlined: element === document.body || isInsideField || hasOutline,
      isInView: bottom > 0 && top < innerHeight && right > 0 && left < innerWidth,
    }
  })
  assert.ok(isOutlined, `the focused element has no focus ring: ${name}`)
  assert.ok(isInView, `the focused element is out of view: ${name}`)
}
