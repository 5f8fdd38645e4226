import type { Arm } from './assignment.ts'
import { logSum } from './e-process.ts'

/** How many units of each arm came while the share was this. */
export interface ArmCounts extends Record<Arm, number> {
  share: number
}

// A trial checks who was exposed and who voted. With 200 each, both together raise a false alarm in at most 1% of trials, however
// often they are checked.
const minLogCapital = Math.log(200)

// Log odds ratios between the arms that came and those that were promised, from one that takes 100,000 units to notice to an arm that
// is all but missing.
const mismatches = [0.025, 0.05, 0.1, 0.2, 0.4, 0.8, 1.6, 3.2].flatMap((ratio) => [ratio, -ratio])

/**
 * Whether units come in another proportion than promised: a broken assignment, an arm that crashes, or one whose users no longer vote.
 * Each unit may be counted once; a user with a thousand answers would look like a thousand users in one arm. All of so many checks
 * together raise no more false alarms than one.
 */
export function hasShareMismatch(counts: readonly ArmCounts[], checks = 1): boolean {
  return logShareCapital(counts) >= minLogCapital + Math.log(checks)
}

/** The log capital of bets on each mismatch, against every unit being in the candidate with a probability of the share. */
function logShareCapital(counts: readonly ArmCounts[]): number {
  const logs = mismatches.map((ratio) => {
    let log = 0
    for (const { share, candidate, control } of counts) {
      if (share <= 0 || share >= 1) continue
      const odds = Math.exp(ratio)
      const total = 1 - share + share * odds
      log += candidate * (ratio - Math.log(total)) - control * Math.log(total)
    }
    return log
  })
  return logSum(logs) - Math.log(logs.length)
}
