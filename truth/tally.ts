/** Counts of one class of facts. */
export interface Tally {
  name: string
  right: number
  /** In git, but not recorded. */
  missing: number
  /** Recorded, but contradicted by git. */
  wrong: number
  /** Nothing in git proves either. Not part of the percentages. */
  unknown: number
  examples: Example[]
}

export interface Example {
  commit: string
  outcome: 'missing' | 'wrong'
  reason: string
}

/** Of each outcome. */
const maxExamples = 10
/** The share that both percentages must reach. */
export const requiredShare = 0.999

function createTally(name: string): Tally {
  return { name, right: 0, missing: 0, wrong: 0, unknown: 0, examples: [] }
}

export function count(tally: Tally, outcome: 'missing' | 'wrong', commit: string, reason: string, by = 1): void {
  tally[outcome] += by
  const shown = tally.examples.filter((example) => example.outcome === outcome).length
  if (shown < maxExamples) tally.examples.push({ commit, outcome, reason })
}

/** The share of what was recorded that is right. Null if nothing was recorded. */
export function precision({ right, wrong }: Tally): number | null {
  return right + wrong === 0 ? null : right / (right + wrong)
}

/** The share of what git has that was recorded. Null if git has nothing. */
export function recall({ right, missing }: Tally): number | null {
  return right + missing === 0 ? null : right / (right + missing)
}

export function isMet(tally: Tally): boolean {
  return [precision(tally), recall(tally)].every((share) => share === null || share >= requiredShare)
}

export function createTallies() {
  return {
    line: createTally('line of commits'),
    entries: createTally('entries'),
    authors: createTally('authors'),
    times: createTally('times'),
    texts: createTally('texts'),
    renames: createTally('renames'),
    merge: createTally('pull requests: merges'),
    squash: createTally('pull requests: squashes'),
    rebase: createTally('pull requests: rebases'),
    'fast-forward': createTally('pull requests: fast-forwards'),
    invented: createTally('pull requests: invented'),
  }
}

export type Tallies = ReturnType<typeof createTallies>
