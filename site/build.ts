import { cp, mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { dirname, join, relative } from 'node:path'
import { fileURLToPath } from 'node:url'
import { Marked, type Tokens } from 'marked'
import MiniSearch from 'minisearch'
import { describeApi } from '../server/src/http/docs/openapi.ts'
import { renderDocsPage } from '../server/src/http/docs/page.ts'
import { version } from '../server/src/version.ts'
import { brokenLinks, type Page, readPages, root, targetOf, trackedFiles } from './pages.ts'

// Writes the documentation as static pages to dist/site, those of this version in a folder of its own. Other versions stay.

const site = join(root, 'dist/site')
const folder = join(site, version)
const reference = 'reference.html'
const searchOptions = { fields: ['title', 'name', 'text'], storeFields: ['title', 'page', 'place', 'weight'] }

const pages = readPages()
const broken = brokenLinks(pages)
if (broken.length > 0) throw new Error(`Links that lead nowhere:\n${broken.join('\n')}`)
const byPath = new Map(pages.map((page) => [page.path, page]))
const readme = byPath.get('README.md') as Page
const sections = readSections()
const copied = new Set<string>()

await rm(folder, { recursive: true, force: true })
for (const page of pages) await write(placeOf(page.path), render(page))
for (const path of copied) await copy(path)
await writeReference()
await write(
  'search-index.js',
  `searchOptions = ${JSON.stringify(searchOptions)}\nsearchIndex = ${JSON.stringify(JSON.stringify(searchIndex()))}\n`,
)
const own = fileURLToPath(new URL('.', import.meta.url))
for (const name of ['site.css', 'site.js']) await cp(join(own, name), join(folder, name))
await cp(join(root, 'node_modules/minisearch/dist/umd/index.js'), join(folder, 'minisearch.js'))
await writeVersions()
process.stdout.write(`${pages.length} pages. Open ${join(relative(process.cwd(), folder), 'index.html')}\n`)

/** Where a page is on the site: a README is the index of its folder. */
function placeOf(path: string): string {
  return path.replace(/README\.md$/, 'index.html').replace(/\.md$/, '.html')
}

/** The lists below "Documentation" in the README, which are the navigation. */
function readSections(): { title: string; items: { title: string; path: string }[] }[] {
  const start = readme.tokens.findIndex((token) => token.type === 'heading' && token.raw.includes('Documentation'))
  const list = readme.tokens.slice(start).find(({ type }) => type === 'list') as Tokens.List
  return list.items.map(({ text }) => ({
    title: /\*\*(.*?):?\*\*/.exec(text)?.[1] ?? '',
    items: [...text.matchAll(/\[([^\]]+)\]\(([^)]+)\)/g)].map(([, title = '', link = '']) => ({
      title,
      path: targetOf(readme, link)?.file ?? '',
    })),
  }))
}

function render(page: Page): string {
  const up = (path: string) => relative(dirname(placeOf(page.path)), path) || '.'
  const href = (link: string) => {
    const target = targetOf(page, link)
    if (target === null) return link
    if (!byPath.has(target.file)) copied.add(target.file)
    const place = byPath.has(target.file) ? placeOf(target.file) : listed(target.file)
    return `${up(place)}${target.heading === '' ? '' : `#${target.heading}`}`
  }
  const headings = page.headings.values()
  const markdown = new Marked({
    renderer: {
      heading({ tokens, depth }) {
        return `<h${depth} id="${headings.next().value?.id}">${this.parser.parseInline(tokens)}</h${depth}>\n`
      },
    },
    walkTokens(token) {
      if (token.type === 'link' || token.type === 'image') token.href = href(token.href)
    },
  })
  return layout(page, markdown.parse(page.tokens.map(({ raw }) => raw).join('')) as string, up)
}

function layout(page: Page, content: string, up: (path: string) => string): string {
  const link = (title: string, place: string) =>
    `<li><a href="${up(place)}"${place === placeOf(page.path) ? ' aria-current="page"' : ''}>${title}</a></li>`
  const navigation = sections.map(
    ({ title, items }) =>
      `<p>${title}</p><ul>${items.map(({ title, path }) => link(title, placeOf(path))).join('')}</ul>`,
  )
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>${escaped(page.title)} · Promptledger ${version}</title>
<link rel="stylesheet" href="${up('site.css')}">
<script src="${up('site.js')}" data-root="${up('.')}" defer></script>
</head>
<body>
<div class="side">
<header>
<a href="${up('index.html')}">Promptledger</a> <select aria-label="Version"><option>${version}</option></select>
<button type="button" popovertarget="pages">Menu</button>
<input type="search" placeholder="Search" aria-label="Search" autocomplete="off">
<ol class="results" hidden></ol>
</header>
<nav id="pages" aria-label="Pages" popover>
${navigation.join('\n')}
<p><a href="${up(reference)}">API reference</a></p>
</nav>
</div>
<main>
${content}
</main>
</body>
</html>
`
}

/** A folder without a page of its own is a list of its files. */
function listed(path: string): string {
  return trackedFiles(path).includes(path) ? path : join(path, 'index.html')
}

async function copy(path: string): Promise<void> {
  const files = trackedFiles(path)
  for (const file of files) {
    await mkdir(dirname(join(folder, file)), { recursive: true })
    await cp(join(root, file), join(folder, file))
  }
  if (files.includes(path)) return
  const list = files.map((file) => `- [${relative(path, file)}](${relative(path, file)})`).join('\n')
  const content = new Marked().parse(`# ${path}\n\n${list}`) as string
  const page: Page = { path: join(path, 'README.md'), title: path, tokens: [], headings: [], links: [] }
  await write(
    join(path, 'index.html'),
    layout(page, content, (place) => relative(path, place) || '.'),
  )
}

/** The page of a running service, without what needs one. */
async function writeReference(): Promise<void> {
  const document = describeApi()
  const style = await readFile(join(root, 'server/src/http/docs/page.css'), 'utf8')
  const page = renderDocsPage(document, style)
    .replace('<script type="module" src="/docs/page.js"></script>\n', '')
    .replace('<a href="/">Back to the console</a>', '<a href="index.html">Back to the documentation</a>')
    .replace('href="/openapi.json"', 'href="openapi.json"')
  await write(reference, page)
  await write('openapi.json', `${JSON.stringify(document, null, 2)}\n`)
}

/** One entry for each part below a heading. */
function searchIndex(): MiniSearch {
  const index = new MiniSearch(searchOptions)
  const documents = pages.flatMap((page) => {
    const headings = page.headings.values()
    const parts: (ReturnType<typeof rankOf> & Record<'id' | 'title' | 'page' | 'place' | 'text', string>)[] = []
    for (const token of page.tokens) {
      if (token.type === 'heading') {
        const { id, text: title } = headings.next().value ?? { id: '', text: '' }
        const place = `${placeOf(page.path)}#${id}`
        parts.push({ id: place, title, page: page.title, place, text: '', ...rankOf(page, parts.length === 0) })
      } else if (parts.length > 0) (parts.at(-1) as { text: string }).text += token.raw
    }
    return parts
  })
  index.addAll(documents)
  return index
}

/** A page comes before the parts of others, and is also found by its path and its name in the navigation. Records come last. */
function rankOf({ path }: Page, isStart: boolean): { name: string; weight: number } {
  const isRecord = /^(docs\/(decisions|measurements)\/|CHANGELOG)/.test(path)
  if (isRecord || !isStart) return { name: '', weight: isRecord ? 0.2 : 1 }
  const named = sections.flatMap(({ items }) => items).filter((item) => item.path === path)
  return { name: [path, ...named.map(({ title }) => title)].join(' '), weight: 2 }
}

async function writeVersions(): Promise<void> {
  const names = (await readdir(site, { withFileTypes: true })).filter((entry) => entry.isDirectory())
  const versions = names.map(({ name }) => name).sort((a, b) => b.localeCompare(a, 'en', { numeric: true }))
  await writeFile(join(site, 'versions.js'), `siteVersions = ${JSON.stringify(versions)}\n`)
  await writeFile(
    join(site, 'index.html'),
    `<!doctype html><meta http-equiv="refresh" content="0; url=${versions[0]}/index.html">\n`,
  )
}

async function write(place: string, text: string): Promise<void> {
  await mkdir(dirname(join(folder, place)), { recursive: true })
  await writeFile(join(folder, place), text)
}

function escaped(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;')
}
