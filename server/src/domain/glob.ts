import { createBoundedMap } from './bounded-map.ts'
import { invalidField } from './errors.ts'
import { validLine } from './text.ts'

const maxLength = 200
// Bounds the time of a match, which is the length of the text times the number of wildcards.
const maxWildcards = 10
const token = /\*\*\/?|./gsu

export function validGlob(field: string, text: string): string {
  validLine(field, text, maxLength)
  const wildcards = tokensOf(text).filter((part) => part.startsWith('*')).length
  if (wildcards > maxWildcards) throw invalidField(field, `must have at most ${maxWildcards} wildcards`)
  return text
}

/**
 * Whether the glob matches the whole text, by git's rules: `?` stands for one character and `*` for any number, neither for a
 * slash; `**` stands for anything, and with a slash after it for any number of folders, including none.
 *
 * Follows all possible positions in the glob at once, as the bits of a number, because a regular expression with several wildcards
 * can take exponential time.
 */
export function matchesGlob(glob: string, text: string): boolean {
  const { end, wildcards, folders, staying, starting } = patternOf(glob)
  // Positions after wildcards, which may stand for nothing more. Folders end only where the next one starts.
  const skip = (positions: bigint, isSegmentStart: boolean) => {
    const skipped = isSegmentStart ? wildcards : wildcards & ~folders
    let all = positions
    for (let more = all & skipped; more !== 0n; more &= skipped) {
      more = (more << 1n) & ~all
      all |= more
    }
    return all
  }
  let positions = skip(1n, true)
  for (const character of text) {
    const isSlash = character === '/'
    const started = starting.get(character) ?? (isSlash ? 0n : starting.get('')) ?? 0n
    positions = ((positions & started) << 1n) | (positions & (isSlash ? staying.atSlash : staying.elsewhere))
    if (positions === 0n) return false
    positions = skip(positions, isSlash)
  }
  return (positions & end) !== 0n
}

interface Pattern {
  end: bigint
  wildcards: bigint
  /** Wildcards for folders. */
  folders: bigint
  /** Wildcards that may stand for another character. */
  staying: { atSlash: bigint; elsewhere: bigint }
  /** What each character may stand at; under '' what any other than a slash may. */
  starting: ReadonlyMap<string, bigint>
}

const patterns = createBoundedMap<Pattern>(100)

function patternOf(glob: string): Pattern {
  let pattern = patterns.get(glob)
  if (pattern === undefined) {
    pattern = compile(tokensOf(glob))
    patterns.set(glob, pattern)
  }
  return pattern
}

function compile(tokens: string[]): Pattern {
  const bitsOf = (isMeant: (token: string) => boolean) =>
    tokens.reduce((bits, token, i) => (isMeant(token) ? bits | (1n << BigInt(i)) : bits), 0n)
  const any = bitsOf((token) => token === '?')
  const starting = new Map([['', any]])
  for (const token of new Set(tokens)) {
    if (token !== '?' && !token.startsWith('*')) {
      starting.set(token, bitsOf((each) => each === token) | (token === '/' ? 0n : any))
    }
  }
  const wildcards = bitsOf((token) => token.startsWith('*'))
  return {
    end: 1n << BigInt(tokens.length),
    wildcards,
    folders: bitsOf((token) => token === '**/'),
    staying: { atSlash: bitsOf((token) => token.startsWith('**')), elsewhere: wildcards },
    starting,
  }
}

function tokensOf(glob: string): string[] {
  return glob.match(token) ?? []
}
