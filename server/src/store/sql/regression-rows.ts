import type { Regression, RegressionFigures, RegressionState, Repair } from '../../domain/regressions/regression.ts'
import type { Row, Value } from './database.ts'
import { fromMillionths, toMillionths } from './millionths.ts'
import { toTriaged, triageColumns } from './triage.ts'

export const figureColumns = [
  ...['rate_before', 'rate_after', 'difference', 'low', 'high', 'explanation', 'evidence'],
  ...['signals_before', 'signals_after', 'live_from'],
]
export const columns = `id, prompt_id, entry_id, commit_sha, state, opened_at, ${figureColumns.join(', ')}, repaired_at,
  repaired_by, repaired_entry_id, withdrawn_at, ${triageColumns}`

export function fromFigures(figures: RegressionFigures): Value[] {
  const { rateBefore, rateAfter, difference, interval, explanation, evidence } = figures
  const { signalsBefore, signalsAfter, liveFrom } = figures
  const inThousandths = evidence === null ? null : Math.round(evidence * 1_000)
  const rates = [rateBefore, rateAfter, difference, ...interval].map(toMillionths)
  return [...rates, explanation, inThousandths, signalsBefore, signalsAfter, liveFrom]
}

export function toRegression(row: Row): Regression {
  return {
    id: row.id as number,
    promptId: row.prompt_id as number,
    entryId: row.entry_id as number,
    commitSha: row.commit_sha as string,
    state: row.withdrawn_at === null ? (row.state as RegressionState) : 'withdrawn',
    openedAt: row.opened_at as number,
    rateBefore: fromMillionths(row.rate_before),
    rateAfter: fromMillionths(row.rate_after),
    difference: fromMillionths(row.difference),
    interval: [fromMillionths(row.low), fromMillionths(row.high)],
    explanation: row.explanation as string,
    evidence: row.evidence === null ? null : (row.evidence as number) / 1_000,
    signalsBefore: row.signals_before as number | null,
    signalsAfter: row.signals_after as number | null,
    liveFrom: row.live_from as number | null,
    repairedAt: row.repaired_at as number | null,
    repairedBy: row.repaired_by as Repair | null,
    repairedEntryId: row.repaired_entry_id as number | null,
    withdrawnAt: row.withdrawn_at as number | null,
    ...toTriaged(row),
  }
}
