import type { EntryDetails } from '../history/entry.ts'
import type { HistoryStore } from '../history/history.ts'
import { type JudgedChange, type JudgeStores, judgeChanges } from '../impact/judged-changes.ts'
import type { LivePeriod } from '../impact/live/live-window.ts'
import type { Drift } from '../impact/model/drift.ts'
import { notableDifference } from '../impact/model/verdict.ts'
import type { VoteHistory } from '../impact/reading/vote-history.ts'
import type { ProposalStore } from '../proposals/proposal.ts'
import type { Regression, Repair } from './regression.ts'

interface RepairStores extends JudgeStores {
  history: Pick<HistoryStore, 'entries'>
  proposals: Pick<ProposalStore, 'pullsOf'>
}

interface FoundRepair {
  by: Repair
  /** The change that repaired it; null if there is none. */
  entryId: number | null
}

// Only the newest changes after a bad one are compared with it.
const maxLaterWindows = 5
const maxLaterEntries = 200

/**
 * What repaired a regression, if anything did: the prompt has its text from before the change again, or the rate is back. `judged`
 * is the present judgement on the change.
 */
export async function findRepair(
  stores: RepairStores,
  history: VoteHistory,
  judged: JudgedChange,
  regression: Pick<Regression, 'difference'>,
  drift: Readonly<Drift>,
): Promise<FoundRepair | null> {
  const revert = await findRevert(stores, history, judged.period)
  if (revert !== null) return { by: 'revert', ...revert }
  if (excludesLoss(judged, regression)) return { by: 'rate', entryId: null }
  const entryId = await findRecovery(stores, history, judged.period, regression, drift)
  return entryId === null ? null : { by: 'rate', entryId }
}

/** Whether the votes exclude a loss worth mentioning: half of what was lost, or ten points if that is less. */
function excludesLoss({ verdict, difference }: JudgedChange, regression: Pick<Regression, 'difference'>): boolean {
  if (verdict === 'worse' || difference === null) return false
  return difference.interval[0] > -Math.min(notableDifference, Math.abs(regression.difference) / 2)
}

/** A later change whose window shows that the rate is back. */
async function findRecovery(
  stores: RepairStores,
  history: VoteHistory,
  { change, earlier }: LivePeriod,
  regression: Pick<Regression, 'difference'>,
  drift: Readonly<Drift>,
): Promise<number | null> {
  if (earlier === null) return null
  const { periods } = history
  const later = periods.slice(periods.findIndex((period) => period.change.id === change.id) + 1).slice(-maxLaterWindows)
  // As if the change, or the one before it, had been live right before.
  const againstBad = await judgeChanges(
    stores,
    history,
    later.map((period) => ({ ...period, earlier: change })),
    drift,
  )
  const againstGood = await judgeChanges(
    stores,
    history,
    later.map((period) => ({ ...period, earlier })),
    drift,
  )
  const back = later.findIndex((_, i) => {
    const [bad, good] = [againstBad[i] as JudgedChange, againstGood[i] as JudgedChange]
    // A partial recovery is better than the bad window, but the loss is not repaired while it is certain.
    return good.verdict !== 'worse' && (bad.verdict === 'better' || excludesLoss(good, regression))
  })
  return later[back]?.change.id ?? null
}

/** Whether the prompt has its text from before the change again: by a later change, a rollback or a rewrite of the branch. */
async function findRevert(
  stores: RepairStores,
  { prompt, moment, live, periods }: VoteHistory,
  { change, earlier }: LivePeriod,
): Promise<{ entryId: number | null } | null> {
  const [current] = live.at(moment.at)
  if (change.orphanedAt !== null) return { entryId: current?.change.id ?? null }
  const place = periods.findIndex((period) => period.change.id === change.id)
  if (current !== undefined && current.change.id === earlier?.id) return { entryId: earlier.id }
  const later = periods
    .slice(place + 1)
    .filter((period) => period.change.orphanedAt === null)
    .slice(-maxLaterEntries)
  if (later.length === 0) return null
  const ids = [change, ...later.map((period) => period.change)].map(({ id }) => id)
  const entries = await stores.history.entries(prompt.organisationId, ids)
  const entryOf = new Map(entries.map((entry): [number, EntryDetails] => [entry.id, entry]))
  const text = entryOf.get(change.id)?.beforeBlob ?? null
  const proposed = await stores.proposals.pullsOf(prompt, change.id)
  const reverted = later.find((period) => {
    const entry = entryOf.get(period.change.id)
    // A proposal keeps what others changed since, so the text can be another one than before.
    const isProposed = proposed.some(
      ({ repositoryId, prNumber }) => entry?.repositoryId === repositoryId && entry.prNumber === prNumber,
    )
    return isProposed || (text !== null && entry?.afterBlob === text)
  })
  return reverted === undefined ? null : { entryId: reverted.change.id }
}
