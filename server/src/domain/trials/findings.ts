import type { Instant } from '../time.ts'
import type { Arm } from './assignment.ts'

/** What the judge found about a trial when it looked last. */
export interface TrialFindings {
  judgedAt: Instant
  arms: Record<Arm, ArmFindings>
  /** The candidate's rate minus that of the control, and its confidence sequence. Null until both arms have votes. */
  difference: number | null
  interval: [low: number, high: number] | null
  /** About how many days until there is a verdict at today's traffic. Null if there is one, or if that is not known. */
  daysLeft: number | null
}

export interface ArmFindings {
  /** Units that were served by this arm, each process counting for itself. */
  exposures: number
  /** The first votes of so many voters. */
  voters: number
  positive: number
}
