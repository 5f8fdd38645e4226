import type { ProposalBody } from '../../../../contract/proposals.ts'
import type { RegressionBody, RegressionDetailsBody } from '../../../../contract/regressions.ts'
import { isCertainEnough } from '../../domain/alerts/certainty.ts'
import type { ListedAlertDelivery } from '../../domain/alerts/delivery.ts'
import type { Proposal } from '../../domain/proposals/proposal.ts'
import type { ListedRegression } from '../../domain/regressions/regression.ts'
import { type Instant, isoTime, timeOrNull } from '../../domain/time.ts'
import { ownerOf, type TriageStep } from '../../domain/triage.ts'
import { destinationOf } from '../alerts/body.ts'
import { toHistoryEntryBody } from '../history/body.ts'
import { toStepBody, toTriagedBody } from '../triage-body.ts'

export function toRegressionBody(regression: ListedRegression): RegressionBody {
  const { prompt, repairedEntry } = regression
  return {
    id: regression.id,
    prompt: { id: prompt.publicId, name: prompt.name },
    state: regression.state,
    change: toHistoryEntryBody(regression.change),
    opened_at: isoTime(regression.openedAt),
    live_from: timeOrNull(regression.liveFrom),
    rate_before: regression.rateBefore,
    rate_after: regression.rateAfter,
    signals_before: regression.signalsBefore,
    signals_after: regression.signalsAfter,
    difference: regression.difference,
    interval: regression.interval,
    explanation: regression.explanation,
    repaired_at: timeOrNull(regression.repairedAt),
    repaired_by: regression.repairedBy,
    repaired_entry: repairedEntry && toHistoryEntryBody(repairedEntry),
    withdrawn_at: timeOrNull(regression.withdrawnAt),
    ...toTriagedBody(regression, ownerOf(regression)),
  }
}

/** Leaves out where the messages went and what was answered, which only administrators may see. */
export function toRegressionDetailsBody(
  regression: ListedRegression,
  deliveries: ListedAlertDelivery[],
  proposal: Proposal | null,
  steps: TriageStep[],
  now: Instant,
): RegressionDetailsBody {
  const told = deliveries.map(({ event, alertId, alert, state, createdAt, finishedAt }) => ({
    event,
    destination: destinationOf({ alertId }),
    alert: alert && { name: alert.name, channel: alert.channel },
    state,
    created_at: isoTime(createdAt),
    finished_at: timeOrNull(finishedAt),
  }))
  return {
    ...toRegressionBody(regression),
    certain_enough: isCertain(regression, now),
    proposal: proposal && toProposalBody(proposal),
    steps: steps.map(toStepBody),
    told,
  }
}

export function toProposalBody(proposal: Proposal): ProposalBody {
  return {
    id: proposal.id,
    state: proposal.state,
    mode: proposal.mode,
    files: proposal.files,
    branch: proposal.branch,
    pr_number: proposal.prNumber,
    pr_url: proposal.prUrl,
    proposed_by: proposal.proposedBy,
    created_at: isoTime(proposal.createdAt),
  }
}

/** Apart from how long it has to last, which each alert decides. */
function isCertain(regression: ListedRegression, now: Instant): boolean {
  const { signalsAfter, openedAt, liveFrom } = regression
  const liveForMs = liveFrom === null ? null : now - liveFrom
  const certainty = { ...regression, signalsAfter: signalsAfter ?? 0, heldForMs: now - openedAt, liveForMs }
  return isCertainEnough(certainty, { holdMs: 0, minSignals: 0 })
}
