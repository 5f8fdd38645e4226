/** Other prompts of the organisation at the time of a shift. */
export interface Others {
  /** How many have a shift at the same time. */
  moved: number
  /** How many of these moved without a change of their own. */
  unchanged: number
  /** How many would have one at that time by chance, given how often they move. */
  expected: number
  /** How many have enough votes to show a shift, whether they moved or not. */
  all: number
}

// Of 100 shifts that have nothing to do with each other, one is called shared.
const maxChance = 0.01

/**
 * Whether the cause of a shift lies outside of its prompt, because more other prompts moved with it than would by chance. If a change
 * would explain it, only prompts without a change of their own speak against that, and at least half of them have to have moved:
 * otherwise a pull request that makes ten prompts worse at once would be blamed for none.
 */
export function isShared({ moved, unchanged, expected, all }: Others, hasChange: boolean): boolean {
  const count = hasChange ? unchanged : moved
  // One other prompt may always move by chance.
  if (count < 2 || chanceOf(count, expected) > maxChance) return false
  const withChange = moved - unchanged
  return !hasChange || 2 * unchanged >= all - withChange
}

/** The probability of at least `count` events if `expected` are expected, by the Poisson distribution. */
function chanceOf(count: number, expected: number): number {
  let term = Math.exp(-expected)
  let fewer = 0
  for (let i = 0; i < count; i++) {
    fewer += term
    term *= expected / (i + 1)
  }
  return 1 - fewer
}
