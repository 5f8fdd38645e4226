import assert from 'node:assert/strict'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { eventually } from '../../testing/eventually.ts'
import { formatRelative, mediumDate, relativeTime, shortTime, wholeNumber } from '../src/ui/locale.ts'
import { inBrowser } from './support/browser.ts'
import { createChangedPrompt } from './support/changed-prompt.ts'

const sources = fileURLToPath(new URL('../src', import.meta.url))
const formatter = /\.toLocale(?:Date|Time)?String\(|\bnew Intl\.|\bIntl\.\w+\(/

test('only ui/locale.ts formats dates and numbers, so that all of them have the same locale', () => {
  const names = readdirSync(sources, { recursive: true, encoding: 'utf8' }).filter((name) => /\.tsx?$/.test(name))
  assert.ok(names.length > 100)
  const formatting = names.filter((name) => formatter.test(readFileSync(join(sources, name), 'utf8')))
  assert.deepEqual(formatting, [join('ui', 'locale.ts')])
})

test('no field shows dates in the locale of the browser', () => {
  const names = readdirSync(sources, { recursive: true, encoding: 'utf8' }).filter((name) => name.endsWith('.tsx'))
  const native = /type="(?:date|datetime-local|time|month|week)"/
  assert.deepEqual(
    names.filter((name) => native.test(readFileSync(join(sources, name), 'utf8'))),
    [],
  )
})

test('dates, numbers and relative times that are formatted without Intl read as Intl writes them', () => {
  const locale = 'en-GB'
  const dates = new Intl.DateTimeFormat(locale, { dateStyle: 'medium', timeStyle: 'short' })
  for (let day = 0; day < 800; day++) {
    const time = new Date(Date.UTC(2026, 0, 1) + day * 86_400_000 + day * 7_777_000)
    assert.equal(`${mediumDate(time)}, ${shortTime(time)}`, dates.format(time))
  }
  const numbers = new Intl.NumberFormat(locale)
  for (const value of [0, 7, -7, 999, 1_000, -1_000, 10_000, 123_456, 9_876_543, 1e15]) {
    assert.equal(wholeNumber(value), numbers.format(value))
  }
  const relative = new Intl.RelativeTimeFormat(locale, { numeric: 'auto' })
  for (const unit of ['year', 'month', 'week', 'day', 'hour', 'minute'] as const) {
    for (const count of [-1_200, -3, -2, -1, 1, 2, 59])
      assert.equal(relativeTime(count, unit), relative.format(count, unit))
  }
})

test('relative times round as people do', () => {
  const day = 86_400_000
  for (const [offset, text] of [
    [13.6 * day, 'in 2 weeks'],
    [10 * day, 'in 10 days'],
    [-13 * day, '2 weeks ago'],
    [-40 * day, '6 weeks ago'],
    [-50 * day, '2 months ago'],
    [-400 * day, '13 months ago'],
    [-700 * day, '2 years ago'],
    [1.2 * day, 'tomorrow'],
    [-1.9 * day, '2 days ago'],
    [-0.99 * day, 'yesterday'],
    [-110 * 60_000, '2 hours ago'],
    [-59.8 * 60_000, '1 hour ago'],
    [90_000, 'in 2 minutes'],
    [-20_000, 'just now'],
  ] as const) {
    assert.equal(formatRelative(new Date(1e12 + offset), 1e12), text)
  }
})

inBrowser('The locale', (suite) => {
  test('dates and numbers are the same in a browser of any language', async (t) => {
    const { scenario, prompt } = await createChangedPrompt(suite.service)
    const { key } = scenario.tenant
    for (const [at, shows] of [
      ['/prompts', /prompts\/p\.md/],
      [`/prompts/${prompt.publicId}`, /All versions.*Show older|All versions.*Deployed/s],
      ['/usage', /\d/],
    ] as const) {
      const pages = await Promise.all(
        ['en-US', 'de-DE', 'ar-EG'].map(async (locale) => (await suite.visit(t, { at, key, locale })).page),
      )
      await eventually(async () => {
        const texts = await Promise.all(pages.map((page) => page.locator('main').innerText()))
        const [english, ...others] = texts
        assert.match(english as string, shows)
        for (const text of others) assert.equal(text, english)
      })
    }
  })
})
