import { expandBraces, matchesCharacter, parse, type Segment, type Token } from './path-pattern.ts'

/** Whether a file could match both globs. Two character classes count as overlapping. */
export function patternsOverlap(one: string, other: string): boolean {
  const others = expandBraces(other).map(segmentsOf)
  return expandBraces(one).some((glob) => others.some((segments) => pathsOverlap(segmentsOf(glob), segments)))
}

function pathsOverlap(one: Segment[], other: Segment[]): boolean {
  return sequencesOverlap(one, other, (segment) => segment === '**', segmentsOverlap)
}

/** At the end, `**` stands for at least one segment. */
function segmentsOf(glob: string): Segment[] {
  const segments = parse(glob)
  return segments.at(-1) === '**' ? [...segments, parse('*')[0] as Segment] : segments
}

function segmentsOverlap(one: Segment, other: Segment): boolean {
  if (one === '**' || other === '**') return true
  return sequencesOverlap(one, other, ({ kind }) => kind === 'star', tokensOverlap)
}

function tokensOverlap(one: Token, other: Token): boolean {
  if (one.kind === 'character') return matchesCharacter(other, literal(one))
  return other.kind !== 'character' || matchesCharacter(one, literal(other))
}

function literal({ raw }: Token): string {
  return raw.replace(/^\\/, '')
}

/** Whether two sequences have a common instance. A wildcard stands for any number of elements. */
function sequencesOverlap<T>(
  one: T[],
  other: T[],
  isWildcard: (element: T) => boolean,
  elementsOverlap: (one: T, other: T) => boolean,
): boolean {
  // overlaps[j]: whether the elements of `one` so far and the first j of `other` have a common instance.
  let overlaps = [true]
  for (const [j, element] of other.entries()) overlaps[j + 1] = overlaps[j] === true && isWildcard(element)
  for (const element of one) {
    const next = [overlaps[0] === true && isWildcard(element)]
    for (const [j, otherElement] of other.entries()) {
      next[j + 1] =
        isWildcard(element) || isWildcard(otherElement)
          ? overlaps[j + 1] === true || next[j] === true
          : overlaps[j] === true && elementsOverlap(element, otherElement)
    }
    overlaps = next
  }
  return overlaps[other.length] === true
}
