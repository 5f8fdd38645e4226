import { invalidField } from '../errors.ts'

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
