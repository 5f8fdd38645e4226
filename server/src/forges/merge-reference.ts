// Finds the pull request number in a merge commit's message. Messages are untrusted and may be megabytes long, so every
// function here visits each character at most once.

/** What a commit's message says about the pull request that it merges. Anyone can write it: it names, but does not prove. */
export interface MergeReference {
  number: number
  /** Whether the message has the form that the forge itself writes for a merge. */
  isForgeText: boolean
  /** The path of the repository that the message names, in lower case; null if it names none. */
  repository: string | null
}

export interface ReferencingCommit {
  parents: number
  subject: string
  message: string
}

const maxNumber = 2 ** 31 - 1
const maxNumbers = 10
const maxWordLength = 50
const maxTitleLength = 1_000

export function forgeText(number: number | null, repository: string | null = null): MergeReference | null {
  return number === null ? null : { number, isForgeText: true, repository }
}

export function mention(number: number | null): MergeReference | null {
  return number === null ? null : { number, isForgeText: false, repository: null }
}

// How bots and people start the subject of a merge, in any case: bors and homu, Bitcoin's merge script.
const handMerge =
  /^(?:Merge|Auto merge of|Rollup merge of|Merge PR|Merge pull request|Merged pull request) ?#(\d{1,10})(?![\w-])/i

/**
 * The number in the subject of a merge that a bot or a person made, such as `Auto merge of #7 - …`, or at the end of a title. A merge can
 * have one parent: tools that copy commits between repositories make history linear and leave the subject. A backport of a merge may be
 * squashed, as `Merge pull request #7 from … (#8)`. `signs`: see `numberAtEnd`.
 */
export function numberInTitle({ parents, subject }: ReferencingCommit, signs: string[]): number | null {
  const ofMerge = toNumber(handMerge.exec(subject)?.[1] ?? '')
  const atEnd = numberAtEnd(subject, signs)
  return parents < 2 ? (atEnd ?? ofMerge) : (ofMerge ?? atEnd)
}

/**
 * A commit that was copied from elsewhere keeps the message of the original, with the pull request of the original. Git appends
 * its note to the last paragraph. Earlier ones may be those of commits that were squashed.
 */
export function isCherryPick({ parents, message }: ReferencingCommit): boolean {
  const text = message.trimEnd().replaceAll('\r\n', '\n')
  const lastParagraph = text.slice(Math.max(0, text.lastIndexOf('\n\n')))
  return parents < 2 && lastParagraph.includes('\n(cherry picked from commit ')
}

/** The number in `before` + N + `after` at this position in the text. */
export function numberAt(text: string, position: number, before: string, after: string): number | null {
  if (!text.startsWith(before, position)) return null
  const start = position + before.length
  let end = start
  while (end - start <= 10 && isDigit(text[end])) end += 1
  return text.startsWith(after, end) ? toNumber(text.slice(start, end)) : null
}

/** The number in `(#N)` at the end of the text. `signs` lists the characters that are accepted in place of `#`, in any case. */
export function numberAtEnd(text: string, signs: string[]): number | null {
  const line = withoutNotes(text)
  if (!line.endsWith(')')) return null
  const start = startOfDigits(line, line.length - 1)
  const isSigned = signs.some((sign) => line.slice(start - sign.length - 1, start).toLowerCase() === `(${sign}`)
  return isSigned ? toNumber(line.slice(start, -1)) : null
}

/** The title without notes to the build server at its end, such as `[ci skip]`. */
function withoutNotes(title: string): string {
  return title
    .slice(-maxTitleLength)
    .replace(/(?:\s*\[[\w -]{1,30}\])+\s*$/, '')
    .trimEnd()
}

// After these, a number is that of an issue, or of a pull request that the commit only relates to.
const relations = new Set(
  (
    'fix fixes fixed close closes closed resolve resolves resolved ref refs see issue bug ticket pr to of for in from by with and ' +
    'or like after before since until via replaces reverts revert follows supersedes addresses implements partially'
  ).split(' '),
)

/** The number in `Title #N`, or `Title #N)` by mistake, unless the word before it relates the title to the number. */
export function bareNumberAtEnd(title: string): number | null {
  const line = title.trimEnd().replace(/\)$/, '')
  const start = startOfDigits(line, line.length)
  if (line[start - 1] !== '#' || !/\s/.test(line[start - 2] ?? '')) return null
  const before = line.slice(Math.max(0, start - maxWordLength), start - 1).trimEnd()
  const word = before.slice(before.lastIndexOf(' ') + 1).toLowerCase()
  return word === '' || /[,:(]$/.test(word) || relations.has(word) ? null : toNumber(line.slice(start))
}

/** All numbers in `#N`, anywhere in the text, and whether the text has them as `(#N)`. At most ten. */
export function numbersIn(text: string): { number: number; inBrackets: boolean }[] {
  const found: { number: number; inBrackets: boolean }[] = []
  for (let at = text.indexOf('#'); at !== -1 && found.length < maxNumbers; at = text.indexOf('#', at + 1)) {
    const number = numberAt(text, at, '#', '')
    if (number === null) continue
    const inBrackets = text[at - 1] === '(' && text[at + 1 + String(number).length] === ')'
    found.push({ number, inBrackets })
  }
  return found
}

/** The number at the end of the line, if `before` precedes it. */
export function numberAfter(line: string, before: string): number | null {
  const start = startOfDigits(line, line.length)
  return line.endsWith(before, start) ? toNumber(line.slice(start)) : null
}

/** The rest of the last line that starts with this prefix. */
export function lastLineWith(message: string, prefix: string): string | null {
  const index = message.lastIndexOf(`\n${prefix}`)
  if (index === -1 && !message.startsWith(prefix)) return null
  const start = index + 1 + prefix.length
  const end = message.indexOf('\n', start)
  return message.slice(start, end === -1 ? undefined : end).trim()
}

function startOfDigits(text: string, end: number): number {
  let start = end
  while (end - start <= 10 && isDigit(text[start - 1])) start -= 1
  return start
}

function isDigit(character: string | undefined): boolean {
  return character !== undefined && character >= '0' && character <= '9'
}

function toNumber(digits: string): number | null {
  const number = digits === '' || digits.startsWith('0') ? 0 : Number(digits)
  return number >= 1 && number <= maxNumber ? number : null
}
