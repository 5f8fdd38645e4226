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
 * Follows all possible positions in the glob at once, because a regular expression with several wildcards can take
 * exponential time.
 */
export function matchesGlob(glob: string, text: string): boolean {
  const tokens = tokensOf(glob)
  let isSegmentStart = true
  let positions = withSkipped(tokens, new Set([0]), isSegmentStart)
  for (const character of text) {
    isSegmentStart = character === '/'
    const next = new Set<number>()
    for (const position of positions) {
      const part = tokens[position]
      if (part === undefined) continue
      if (part.startsWith('**') || (part === '*' && character !== '/')) next.add(position)
      else if (part === character || (part === '?' && character !== '/')) next.add(position + 1)
    }
    if (next.size === 0) return false
    positions = withSkipped(tokens, next, isSegmentStart)
  }
  return positions.has(tokens.length)
}

/** Adds the positions after wildcards, which may stand for nothing more. Folders end only where the next one starts. */
function withSkipped(tokens: string[], positions: Set<number>, isSegmentStart: boolean): Set<number> {
  // A set also visits the positions that are added to it during the loop.
  for (const position of positions) {
    const part = tokens[position]
    if (part === '*' || part === '**' || (part === '**/' && isSegmentStart)) positions.add(position + 1)
  }
  return positions
}

function tokensOf(glob: string): string[] {
  return glob.match(token) ?? []
}
