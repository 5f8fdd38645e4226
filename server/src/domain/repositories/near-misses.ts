import { sanitisedLine } from '../text.ts'
import { expandBraces, globMatcher } from './path-pattern.ts'

const maxExamples = 3
const maxRemembered = 10_000
const maxPathLength = 200

/** Finds out why a glob matches no file: collects the paths of all files, then explains. */
export function createNearMisses(glob: string) {
  const matchesInLowerCase = globMatcher(glob.toLowerCase())
  const inOtherCase: string[] = []
  const candidates = widerGlobs(glob).map((wider) => ({ glob: wider, matches: globMatcher(wider), count: 0 }))
  const examples: string[] = []
  let count = 0

  return {
    add(path: string): void {
      count++
      if (examples.length < maxExamples) examples.push(path)
      if (inOtherCase.length < maxRemembered && matchesInLowerCase(path.toLowerCase())) inOtherCase.push(path)
      for (const candidate of candidates) if (candidate.matches(path)) candidate.count++
    },

    /** A sentence about the nearest matches. */
    explain(): string {
      const none = `No file of the default branch matches ${glob}.`
      const [first] = inOtherCase
      if (first !== undefined) {
        const recased = inCaseOf(glob, first)
        const matching = inOtherCase.filter(globMatcher(recased)).length
        if (matching > 0) return `${none} Upper and lower case matter: ${recased} would match ${files(matching)}.`
        return `${none} Upper and lower case matter: there is a file ${shown(first)}.`
      }
      const wider = candidates.filter((candidate) => candidate.count > 0)
      if (wider.length > 0) {
        const suggestions = wider.map((candidate) => `${candidate.glob} would match ${files(candidate.count)}`)
        return `${none} ${suggestions.join('; ')}.`
      }
      if (count === 0) return `${none} It has no files.`
      return `${none} It has ${files(count)}, such as ${examples.map(shown).join(', ')}.`
    },
  }
}

/** Globs that match more: in subfolders too, the same names anywhere, any file in the same folder. */
function widerGlobs(glob: string): string[] {
  const slash = glob.lastIndexOf('/')
  const [folder, name] = [glob.slice(0, slash + 1), glob.slice(slash + 1)]
  const anywhere = name === '**' || name === '*' ? [] : [`**/${name}`]
  const inFolder = folder === '' || folder.startsWith('*') ? [] : [`${folder}**`]
  const wider = [...(name === '**' ? [] : [`${folder}**/${name}`]), ...anywhere, ...inFolder]
  return [...new Set(wider)].filter((each) => each !== glob && isUsable(each))
}

function isUsable(glob: string): boolean {
  try {
    return expandBraces(glob).length > 0
  } catch {
    return false
  }
}

/** The glob with the case that its literal folders, and the end of its name, have in the path. */
function inCaseOf(glob: string, path: string): string {
  const [segments, parts] = [glob.split('/'), path.split('/')]
  const literal = segments.findIndex((segment) => /[*?[\\{]/.test(segment))
  const last = segments.length - 1
  return segments
    .map((segment, i) => {
      const part = (i === last ? parts.at(-1) : parts[i]) ?? ''
      if (literal === -1 || i < literal) return parts[i] ?? segment
      const [end = ''] = i === last ? (/[^*?[\]\\{}]*$/.exec(segment) ?? []) : []
      return segment.slice(0, segment.length - end.length) + part.slice(part.length - end.length)
    })
    .join('/')
}

function files(count: number): string {
  return count === 1 ? '1 file' : `${count.toLocaleString('en')} files`
}

/** Paths come from the repository, which may contain anything. */
function shown(path: string): string {
  return sanitisedLine(path, maxPathLength, '?')
}
