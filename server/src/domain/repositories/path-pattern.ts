import { invalidField } from '../errors.ts'

/** A glob for prompt files. git gets only `pathspecs`, which it can match in linear time. */
interface PathPattern {
  /** Together, they match at least the files that the glob matches. */
  pathspecs: string[]
  /** Whether the glob matches. Null if the pathspecs match the same files. */
  matches: ((path: string) => boolean) | null
}

export type Token = { raw: string } & (
  | { kind: 'character' }
  | { kind: 'any' }
  | { kind: 'class'; regexp: RegExp }
  | { kind: 'star' }
)

/** A segment between two slashes, or `**` for any number of them. */
export type Segment = Token[] | '**'

const maxStars = 16
const maxDoubleStars = 4

/** Rejects a glob that is malformed or has too many wildcards. */
export function checkPattern(glob: string): void {
  for (const alternative of expandBraces(glob)) checkSegments(parse(alternative))
}

function checkSegments(segments: Segment[]): void {
  const stars = segments.flatMap((segment) => (segment === '**' ? [] : segment.filter(({ kind }) => kind === 'star')))
  if (stars.length > maxStars) throw invalidField('path', `must have at most ${maxStars} wildcards (*)`)
  if (segments.filter((segment) => segment === '**').length > maxDoubleStars) {
    throw invalidField('path', `must have at most ${maxDoubleStars} wildcards for folders (**)`)
  }
}

/**
 * git matches a glob by trial and error: with three `*` in one name, or three `**`, a hostile path takes it seconds, with
 * more of them hours. Such a glob is matched here in linear time, and git gets a simpler one.
 */
export function pathPattern(glob: string): PathPattern {
  checkPattern(glob)
  const alternatives = expandBraces(glob).map(parse)
  return {
    pathspecs: alternatives.map((segments) => pathspecOf(isLinearInGit(segments) ? segments : simplified(segments))),
    matches: alternatives.every(isLinearInGit) ? null : globMatcher(glob),
  }
}

/** Whether the glob matches a path, for many paths. */
export function globMatcher(glob: string): (path: string) => boolean {
  const alternatives = expandBraces(glob).map(parse)
  return (path) => matchesAny(alternatives, path)
}

function matchesAny(alternatives: Segment[][], path: string): boolean {
  return alternatives.some((segments) => matchesPath(segments, path))
}

// `prompts/**/*.md` becomes `prompts/*.md` without the glob magic. It matches the same files, because its `*` matches slashes
// too, and git only compares the end of each path, which makes reading a history a third faster.
function pathspecOf(segments: Segment[]): string {
  const last = segments.at(-1) as Segment
  const folders = segments.slice(0, -2)
  const isSuffix = last !== '**' && last[0]?.raw === '*' && last.slice(1).every(isPlain)
  const isPlainFolder = (segment: Segment) => segment !== '**' && segment.every(isPlain)
  if (!isSuffix || segments.at(-2) !== '**' || !folders.every(isPlainFolder)) {
    return `:(glob)${segments.map(rawOf).join('/')}`
  }
  return `:(top)${[...folders, last].map(rawOf).join('/')}`
}

function isPlain({ kind, raw }: Token): boolean {
  return kind === 'character' && !raw.startsWith('\\')
}

export function parse(glob: string): Segment[] {
  return glob.split('/').map((text) => (text === '**' ? '**' : parseSegment(text)))
}

function parseSegment(text: string): Token[] {
  const tokens: Token[] = []
  for (let at = 0; at < text.length; at += tokens.at(-1)?.raw.length ?? 1) {
    const rest = text.slice(at)
    const [raw = ''] = /^(?:\*+|\?|\\.|\[[!^]?\]?[^\]]*\]|[^[\\])/su.exec(rest) ?? []
    if (raw === '') throw invalidField('path', `has an incomplete ${rest[0]} in ${JSON.stringify(text)}`)
    if (raw.startsWith('*')) tokens.push({ raw, kind: 'star' })
    else if (raw === '?') tokens.push({ raw, kind: 'any' })
    else if (raw.startsWith('[')) tokens.push({ raw, kind: 'class', regexp: characterClass(raw) })
    else tokens.push({ raw, kind: 'character' })
  }
  return tokens
}

function characterClass(raw: string): RegExp {
  const [, negation = '', members = ''] = /^\[([!^]?)(.*)\]$/s.exec(raw) ?? []
  if (members.includes('[:')) throw invalidField('path', 'must not use named character classes such as [:alpha:]')
  const escaped = members.replaceAll(/\\?([^-\\])|\\(.)/gsu, (_, plain, other) => `\\u{${hex(plain ?? other)}}`)
  try {
    return new RegExp(`^[${negation && '^'}${escaped}]$`, 'su')
  } catch {
    throw invalidField('path', `has an invalid range in ${raw}`)
  }
}

function hex(character: string): string {
  return (character.codePointAt(0) as number).toString(16)
}

function isLinearInGit(segments: Segment[]): boolean {
  return segments.filter((segment) => segment === '**').length <= 1 && segments.every((each) => countStars(each) <= 1)
}

function countStars(segment: Segment): number {
  return segment === '**' ? 0 : segment.filter(({ kind }) => kind === 'star').length
}

/** The literal folders, then `**`, then the last segment with at most one `*`. */
function simplified(segments: Segment[]): Segment[] {
  const firstWildcard = segments.findIndex((segment) => segment === '**' || segment.some(isWildcard))
  const last = segments.at(-1) as Segment
  const folders = segments.slice(0, Math.min(firstWildcard, segments.length - 1))
  if (last === '**') return [...folders, '**']
  const end = last.slice(last.findLastIndex(({ kind }) => kind === 'star') + 1)
  return [...folders, '**', countStars(last) > 1 ? [{ raw: '*', kind: 'star' }, ...end] : last]
}

function isWildcard({ kind }: Token): boolean {
  return kind !== 'character'
}

function rawOf(segment: Segment): string {
  return segment === '**' ? segment : segment.map(({ raw }) => raw).join('')
}

function matchesPath(segments: Segment[], path: string): boolean {
  const parts = path.split('/')
  // As in git, a folder without wildcards stands for everything in it.
  if (segments.every((segment) => segment !== '**' && !segment.some(isWildcard)))
    parts.length = Math.min(parts.length, segments.length)
  // Which numbers of leading parts the segments so far match.
  let reached: boolean[] = [true]
  for (const [i, segment] of segments.entries()) {
    const next: boolean[] = []
    if (segment === '**') {
      const first = reached.indexOf(true)
      if (first === -1) return false
      // At the end, `**` stands for everything in a folder, but not for the folder itself.
      if (i === segments.length - 1) return first < parts.length
      for (let count = first; count <= parts.length; count++) next[count] = true
    } else {
      for (const [count, isReached] of reached.entries()) {
        const part = parts[count]
        if (isReached && part !== undefined && matchesSegment(segment, part)) next[count + 1] = true
      }
    }
    reached = next
  }
  return reached[parts.length] === true
}

/**
 * Follows all positions in the segment at once, as the bits of a number: going back to a star takes as many steps as the name and the
 * segment have characters, multiplied.
 */
function matchesSegment(tokens: Token[], text: string): boolean {
  const { end, stars, fitting } = positionsOf(tokens)
  const withSkipped = (positions: bigint) => positions | ((positions & stars) << 1n)
  let positions = withSkipped(1n)
  for (const character of text) {
    let fits = fitting.get(character)
    if (fits === undefined) {
      if (fitting.size >= maxCharacters) fitting.clear()
      fits = bitsOf(tokens, (token) => token.kind !== 'star' && matchesCharacter(token, character))
      fitting.set(character, fits)
    }
    positions = withSkipped(((positions & fits) << 1n) | (positions & stars))
    if (positions === 0n) return false
  }
  return (positions & end) !== 0n
}

interface Positions {
  end: bigint
  stars: bigint
  /** Where each character fits. */
  fitting: Map<string, bigint>
}

const maxCharacters = 200
const positionsOfSegments = new WeakMap<Token[], Positions>()

function positionsOf(tokens: Token[]): Positions {
  const known = positionsOfSegments.get(tokens)
  if (known !== undefined) return known
  const positions = {
    end: 1n << BigInt(tokens.length),
    stars: bitsOf(tokens, ({ kind }) => kind === 'star'),
    fitting: new Map(),
  }
  positionsOfSegments.set(tokens, positions)
  return positions
}

function bitsOf(tokens: Token[], isMeant: (token: Token) => boolean): bigint {
  return tokens.reduce((bits, token, i) => (isMeant(token) ? bits | (1n << BigInt(i)) : bits), 0n)
}

export function matchesCharacter(token: Token, character: string): boolean {
  if (token.kind === 'class') return token.regexp.test(character)
  return token.kind === 'any' || token.raw.replace(/^\\/, '') === character
}

const maxAlternatives = 16

/**
 * The globs that a glob with braces stands for: `{a,b}/*.{md,txt}` for four. As in a shell, braces can be nested, and
 * those without a comma or without an end stand for themselves.
 */
export function expandBraces(glob: string): string[] {
  const braces = firstBraces(glob)
  if (braces === null) return [glob]
  const { before, alternatives, after } = braces
  const expanded = alternatives.flatMap((alternative) => expandBraces(before + alternative + after))
  if (expanded.length > maxAlternatives) {
    throw invalidField('path', `must have at most ${maxAlternatives} alternatives in braces ({a,b})`)
  }
  return expanded
}

/** The first pair of braces with a comma. Characters in a class or after a backslash do not count. */
function firstBraces(glob: string): { before: string; alternatives: string[]; after: string } | null {
  const tokens = [...glob.matchAll(/\\.|\[[!^]?\]?[^\]]*\]|./gsu)].map(([token]) => token)
  const textOf = (start: number, end?: number) => tokens.slice(start, end).join('')
  for (const [start, token] of tokens.entries()) {
    if (token !== '{') continue
    const commas: number[] = []
    let depth = 0
    for (let at = start; at < tokens.length; at++) {
      if (tokens[at] === '{') depth++
      else if (tokens[at] === ',' && depth === 1) commas.push(at)
      else if (tokens[at] === '}' && --depth === 0) {
        if (commas.length === 0) break
        const starts = [start, ...commas]
        const ends = [...commas, at]
        const alternatives = starts.map((from, i) => textOf(from + 1, ends[i]))
        return { before: textOf(0, start), alternatives, after: textOf(at + 1) }
      }
    }
  }
  return null
}
