import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

const root = fileURLToPath(new URL('../', import.meta.url))

/** The pages that tell people what to run. Decisions and measurements say what was run, and those on frameworks are tests of their own. */
export const pages = [
  'README.md',
  'CONTRIBUTING.md',
  'client/README.md',
  'clients/python/README.md',
  'packaging/README.md',
  'examples/README.md',
  ...['docs', 'docs/operations'].flatMap((folder) =>
    readdirSync(join(root, folder))
      .filter((name) => name.endsWith('.md'))
      .map((name) => `${folder}/${name}`),
  ),
]

export interface ShellBlock {
  /** Such as `README.md:19`. */
  place: string
  text: string
}

/** The blocks of shell commands. Of one that shows a session, the lines with a prompt. */
export function shellBlocks(page: string): ShellBlock[] {
  const document = readFileSync(join(root, page), 'utf8')
  return [...document.matchAll(/^( *)```sh\n([\s\S]*?)^\1```/gm)].map(({ index, 2: body = '' }) => {
    const session = body.split('\n').filter((line) => line.startsWith('$ '))
    const text = session.length > 0 ? session.map((line) => line.slice(2)).join('\n') : body
    return { place: `${page}:${document.slice(0, index).split('\n').length}`, text }
  })
}

/** The code in the running text, on one line each. */
export function inlineCode(page: string): ShellBlock[] {
  const document = readFileSync(join(root, page), 'utf8')
  const prose = document.replaceAll(/^( *)```[\s\S]*?^\1```/gm, (block) => block.replaceAll(/[^\n]/g, ' '))
  return [...prose.matchAll(/`([^`\n]+(?:\n[^`\n]+)?)`/g)].map(({ index, 1: text = '' }) => ({
    place: `${page}:${prose.slice(0, index).split('\n').length}`,
    text: text.replaceAll(/\s+/g, ' '),
  }))
}

/** The words of each command, without comments, variables before it, and redirections. */
export function simpleCommands(text: string): string[][] {
  const code = text.replaceAll(/\\\n\s*/g, ' ').replaceAll(/(^|\s)#.*$/gm, '')
  const commands: string[][] = [[]]
  for (const [word] of code.matchAll(/\n|(?:'[^']*'|"(?:\$\([^)]*\)|[^"])*"|\$\([^)]*\)|[^\s'"])+/g)) {
    if (/^(\n|&&|\|\|?|;)$/.test(word)) commands.push([])
    else commands.at(-1)?.push(word.replaceAll(/^['"]|['"]$/g, ''))
  }
  return commands.map(withoutRedirections).filter((command) => command.length > 0)
}

function withoutRedirections(words: string[]): string[] {
  const start = words.findIndex((word) => !/^\w+=/.test(word))
  if (start === -1) return []
  const end = words.findIndex((word) => /^(<|>>?)$/.test(word))
  return words.slice(start, end === -1 ? undefined : end)
}
