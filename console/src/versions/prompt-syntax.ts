/** What a part of a prompt's text is, for a reader. Templates, chat formats and Markdown differ, so this recognises what they share. */
type SyntaxKind = 'front-matter' | 'heading' | 'role' | 'variable' | 'tag' | 'code' | 'strong' | 'marker'

interface Token {
  text: string
  /** Null for plain text. */
  kind: SyntaxKind | null
}

// Every repetition is bounded, because the text may be hostile. Single braces are a variable only around a name: `{"a": 1}` is not one.
const inline = new RegExp(
  [
    String.raw`(?<variable>\{\{[^{}]{1,200}\}\}|\{%[^%]{1,200}%\}|\$\{[^{}]{1,100}\}|\{[A-Za-z_][\w.]{0,60}\})`,
    '(?<code>`[^`]{1,200}`)',
    String.raw`(?<strong>\*\*[^*\s](?:[^*]{0,200}[^*\s])?\*\*)`,
    String.raw`(?<tag><\|[\w-]{1,40}\|>|</?[A-Za-z][\w:.-]{0,60}(?:\s[^<>]{0,200})?>)`,
  ].join('|'),
  'g',
)
const role =
  /^\s*(?:<\|\w{1,20}\|>)?(?:-\s+)?(?:role:\s*["']?)?(?:system|developer|user|assistant|human|ai|tool|model)["']?\s*(?::|<\||$)/i
const heading = /^ {0,3}#{1,6}\s/
const marker = /^\s*(?:[-*+]|\d{1,3}[.)]|>)\s/
const member = /^\s*[\w-]{1,60}:/

// A line of thousands of tokens would take the browser seconds.
const maxTokens = 40

/** The parts of a line. */
export function tokensOf(line: string, isFrontMatter: boolean): Token[] {
  if (isFrontMatter) return startingWith('front-matter', member.exec(line)?.[0] ?? line, line)
  const prefix = role.exec(line)?.[0]
  if (prefix !== undefined) return startingWith('role', prefix, line)
  if (heading.test(line)) return inlineTokens(line).map(({ text, kind }) => ({ text, kind: kind ?? 'heading' }))
  return startingWith('marker', marker.exec(line)?.[0] ?? '', line)
}

function startingWith(kind: SyntaxKind, start: string, line: string): Token[] {
  return [...(start === '' ? [] : [{ text: start, kind }]), ...inlineTokens(line.slice(start.length))]
}

function inlineTokens(text: string): Token[] {
  const tokens: Token[] = []
  let end = 0
  for (const match of text.matchAll(inline)) {
    if (tokens.length >= maxTokens) break
    if (match.index > end) tokens.push({ text: text.slice(end, match.index), kind: null })
    const [kind] = Object.entries(match.groups ?? {}).find(([, found]) => found !== undefined) ?? []
    tokens.push({ text: match[0], kind: kind as SyntaxKind })
    end = match.index + match[0].length
  }
  if (end < text.length) tokens.push({ text: text.slice(end), kind: null })
  return tokens
}

const maxFrontMatterLines = 100

/** How many lines at the start of a text are front matter, between two lines of `---`. */
export function frontMatterLines(text: string): number {
  if (!/^---[ \t]*\r?\n/.test(text)) return 0
  let start = text.indexOf('\n') + 1
  for (let number = 2; number <= maxFrontMatterLines && start > 0 && start < text.length; number++) {
    const end = text.indexOf('\n', start)
    const line = text.slice(start, end === -1 ? text.length : Math.min(end, start + 8))
    if (line.trimEnd() === '---') return number
    start = end + 1
  }
  return 0
}
