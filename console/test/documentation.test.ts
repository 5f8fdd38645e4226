import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { globSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'node:test'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { promisify } from 'node:util'
import { version } from '../../server/src/version.ts'
import { without } from '../../testing/installed-tools.ts'
import { findChromium, launch } from './support/chromium.ts'

const root = fileURLToPath(new URL('../../', import.meta.url))
const site = join(root, 'dist/site', version)
const chromium = findChromium()

test('on a phone, every page of the documentation fits and starts with its heading; the menu and the search lead to others', {
  skip: chromium === null && without('chromium'),
}, async (t) => {
  await promisify(execFile)(process.execPath, ['site/build.ts'], { cwd: root })
  const browser = await launch(chromium as string)
  t.after(() => browser.close())
  const page = await browser.newPage({ viewport: { width: 390, height: 844 } })
  await page.goto(pathToFileURL(join(site, 'docs/trials.html')).href)
  const heading = await page.getByRole('heading', { level: 1 }).boundingBox()
  assert.ok(heading !== null && heading.y < 250, `${heading?.y} px down`)

  await page.getByRole('button', { name: 'Menu' }).click()
  await page.getByRole('navigation', { name: 'Pages' }).getByRole('link', { name: 'alerts' }).click()
  await page.getByRole('heading', { name: 'Alerts', level: 1 }).waitFor()
  // Sections of other pages, and records of decisions, have the word more often.
  for (const [word, title] of [
    ['upgrade', 'Upgrading and going back'],
    ['verdicts', 'Did the change help?'],
    ['trial', 'Trials'],
  ] as const) {
    await page.getByRole('searchbox').fill(word)
    await page.locator('.results li:first-child', { hasText: title }).waitFor()
  }

  // All in one document: a layout instead of a visit for each.
  const files = globSync('**/*.html', { cwd: site, exclude: ['reference.html'] })
  assert.ok(files.length > 100, `${files.length} pages`)
  const contents = await Promise.all(files.map((file) => readFile(join(site, file), 'utf8')))
  const tooWide = await page.evaluate((pages) => {
    document.body.innerHTML = pages.map((html) => /<main>.*<\/main>/s.exec(html)?.[0]).join('')
    return [...document.querySelectorAll('main')].map(({ scrollWidth }) => scrollWidth > innerWidth)
  }, contents)
  assert.equal(tooWide.length, files.length)
  assert.deepEqual(
    files.filter((_, i) => tooWide[i]),
    [],
  )
})
