import type { RegressionFigures } from '../server/src/domain/regressions/regression.ts'

/** A certain loss of 15 points. */
export const figures: RegressionFigures = {
  rateBefore: 0.85,
  rateAfter: 0.7,
  difference: -0.15,
  interval: [-0.2, -0.1],
  explanation: '70% of 1,200 votes are positive after this change, and 85% of 4,000 before it.',
  evidence: 8,
  signalsBefore: 4_000,
  signalsAfter: 1_200,
  liveFrom: 4,
}
