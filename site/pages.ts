import { execFileSync } from 'node:child_process'
import { existsSync, readFileSync, statSync } from 'node:fs'
import { dirname, join, normalize } from 'node:path'
import { fileURLToPath } from 'node:url'
import { marked, type Token, type Tokens } from 'marked'

export const root = fileURLToPath(new URL('../', import.meta.url))

interface Heading {
  id: string
  text: string
  depth: number
}

export interface Page {
  /** Where it is in the repository. */
  path: string
  title: string
  tokens: Token[]
  headings: Heading[]
  /** As written, relative to the page. */
  links: string[]
}

/** Made-up prompts, what is only read beside the code, and the first page of a package. */
const notPages = /^(server|testing|packaging|client|clients)\//

export function readPages(): Page[] {
  return trackedFiles('*.md')
    .filter((path) => !notPages.test(path))
    .map(readPage)
}

export function trackedFiles(pattern: string): string[] {
  return execFileSync('git', ['ls-files', '-z', '--', pattern], { cwd: root, encoding: 'utf8' })
    .split('\0')
    .filter((path) => path !== '')
}

function readPage(path: string): Page {
  const tokens = marked.lexer(readFileSync(join(root, path), 'utf8'))
  const [headings, links]: [Heading[], string[]] = [[], []]
  void marked.walkTokens(tokens, (token) => {
    if (token.type === 'heading') headings.push(toHeading(token as Tokens.Heading, headings))
    if (token.type === 'link' || token.type === 'image') links.push((token as Tokens.Link).href)
  })
  return { path, title: headings[0]?.text ?? path, tokens, headings, links }
}

/** The ID that forges give a heading, so that a link works there and on the site. */
function toHeading({ text, depth }: Tokens.Heading, before: Heading[]): Heading {
  const plain = text.replaceAll(/\[([^\]]*)\]\([^)]*\)/g, '$1').replaceAll(/[`*]/g, '')
  const slug = plain
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N}\s_-]/gu, '')
    .replaceAll(/\s/g, '-')
  const copies = before.filter(({ id }) => id === slug || new RegExp(`^${slug}-\\d+$`).test(id)).length
  return { id: copies === 0 ? slug : `${slug}-${copies}`, text: plain, depth }
}

/** The file of the repository that a link of a page leads to, and the heading in it. Null for another site. */
export function targetOf({ path }: Page, link: string): { file: string; heading: string } | null {
  if (/^[a-z]+:/.test(link)) return null
  const [place = '', heading = ''] = link.split('#')
  const file = place === '' ? path : normalize(join(dirname(path), decodeURIComponent(place))).replace(/\/$/, '')
  const readme = join(file, 'README.md')
  const isFolder = existsSync(join(root, file)) && statSync(join(root, file)).isDirectory()
  return { file: isFolder && existsSync(join(root, readme)) ? readme : file, heading }
}

/** Links that lead nowhere, as `page: link`. */
export function brokenLinks(pages: Page[]): string[] {
  const byPath = new Map(pages.map((page) => [page.path, page]))
  return pages.flatMap((page) =>
    page.links.flatMap((link) => {
      const target = targetOf(page, link)
      if (target === null) return []
      const isThere = existsSync(join(root, target.file))
      const headings = byPath.get(target.file)?.headings ?? []
      const isHeading = target.heading === '' || headings.some(({ id }) => id === target.heading)
      return isThere && isHeading ? [] : [`${page.path}: ${link}`]
    }),
  )
}

/** Pages that no chain of links from the README leads to. */
export function orphans(pages: Page[]): string[] {
  const byPath = new Map(pages.map((page) => [page.path, page]))
  const reached = new Set<string>(['README.md'])
  // A set that grows while it is read.
  for (const path of reached) {
    const page = byPath.get(path)
    for (const link of page?.links ?? []) reached.add(targetOf(page as Page, link)?.file ?? path)
  }
  return pages.map(({ path }) => path).filter((path) => !reached.has(path))
}
